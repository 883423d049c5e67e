"""Metrics of trackers that know no groups: which are of the validation, and by which one trials are compared. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from determined.errors import InvalidArgument

TRAINING, VALIDATION = "training", "validation"
_PATTERNS = ("val", "val[_-]*", "valid*", "eval*", "test", "test[_-]*", "dev", "dev[_-]*")
_LARGER = re.compile(
    r"(^|[^a-z])(acc|accuracy|auc|auroc|f1|score|precision|recall|reward|return|map|iou|dice|bleu|rouge|r2|psnr|ssim|ndcg)"
    r"([^a-z]|$)"
)


@dataclass(frozen=True, slots=True)
class MetricChoice:
    """Choice of groups and of the compared metric. `patterns` are of names or of parts between slashes."""

    patterns: Sequence[str] = _PATTERNS
    metric: str | None = None
    maximize: bool = False

    def group(self, name: str) -> str:
        parts = [name.lower(), *re.split(r"[/.]", name.lower())]
        is_validation = any(fnmatchcase(part, pattern.lower()) for part in parts for pattern in self.patterns)
        return VALIDATION if is_validation else TRAINING

    def compared(self, names: Iterable[str]) -> tuple[str, bool]:
        """Return the metric that compares trials, and whether smaller is better; a loss of the validation if any is."""
        if self.metric:
            return self.metric, not self.maximize
        ordered = sorted(names)
        candidates = [name for name in ordered if self.group(name) == VALIDATION] or ordered
        chosen = next(
            (name for name in candidates if "loss" in name.lower()), candidates[0] if candidates else "validation_loss"
        )
        return chosen, not (self.maximize or _LARGER.search(chosen.lower()))


def choice_of(validation: Sequence[str], metric: str | None, *, maximize: bool) -> MetricChoice:
    """Return the choice that the options --validation, --metric and --maximize make. Raises InvalidArgument."""
    if maximize and not metric:
        raise InvalidArgument("--maximize needs --metric NAME: which metric is better when it is larger")
    return MetricChoice(tuple(validation) or _PATTERNS, metric, maximize)
