"""Use of labels. Pure."""

from collections import Counter
from collections.abc import Iterable


def most_used_first(labels_of_each: Iterable[list[str]]) -> list[str]:
    """List labels, those of most things first, then by alphabet."""
    uses = Counter(label for labels in labels_of_each for label in labels)
    return sorted(uses, key=lambda label: (-uses[label], label))
