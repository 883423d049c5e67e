"""Metrics of trackers that know no groups: which are of the validation, and by which one trials are compared. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from determined.errors import InvalidArgument
from determined.master.importing.clean import clean_name
from determined.master.importing.notes import Note, Outcome, Rule, shown

METRIC = Rule("metric", Outcome.BY_HAND, "Metrics of --metric that no run has: trials cannot be compared by them.")
TRAINING, VALIDATION = "training", "validation"
_PATTERNS = ("val", "val[_-]*", "valid*", "eval*", "test", "test[_-]*", "dev", "dev[_-]*")
_SHOWN = 20
_LARGER = re.compile(
    r"(^|[^a-z])(acc|accuracy|auc|auroc|f1|score|precision|recall|reward|return|map|iou|dice|bleu|rouge|r2|psnr|ssim|ndcg)"
    r"([^a-z]|$)"
)


@dataclass(frozen=True, slots=True)
class MetricChoice:
    """Choice of groups and of the compared metric. `patterns` are of names or of parts between slashes.

    `seen`: the names of metrics that it was asked to choose from.
    """

    patterns: Sequence[str] = _PATTERNS
    metric: str | None = None
    maximize: bool = False
    seen: set[str] = field(default_factory=set, compare=False)

    def group(self, name: str) -> str:
        parts = [name.lower(), *re.split(r"[/.]", name.lower())]
        is_validation = any(fnmatchcase(part, pattern.lower()) for part in parts for pattern in self.patterns)
        return VALIDATION if is_validation else TRAINING

    def compared(self, names: Iterable[str]) -> tuple[str, bool]:
        """Return the metric that compares trials, and whether smaller is better; a loss of the validation if any is."""
        ordered = sorted(names)
        self.seen.update(ordered)
        if self.metric:
            return self.metric, not self.maximize
        candidates = [name for name in ordered if self.group(name) == VALIDATION] or ordered
        chosen = next(
            (name for name in candidates if "loss" in name.lower()), candidates[0] if candidates else "validation_loss"
        )
        return chosen, not (self.maximize or _LARGER.search(chosen.lower()))

    def findings(self) -> Iterator[Note]:
        """Say where no run had the metric that was named."""
        if self.metric and self.seen and self.metric not in self.seen:
            by_group = sorted(self.seen, key=lambda name: (self.group(name) != VALIDATION, name))
            names = shown([clean_name(name) for name in by_group], _SHOWN)
            yield Note(METRIC, f"no run has a metric {self.metric!r}; there are: {names}")


def choice_of(validation: Sequence[str], metric: str | None, *, maximize: bool) -> MetricChoice:
    """Return the choice that the options --validation, --metric and --maximize make. Raises InvalidArgument."""
    if maximize and not metric:
        raise InvalidArgument("--maximize needs --metric NAME: which metric is better when it is larger")
    return MetricChoice(tuple(validation) or _PATTERNS, metric, maximize)
