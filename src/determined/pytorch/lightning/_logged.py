"""Values that a module gives to `self.log`: averaged over batches and slots, and reported with the other metrics;
numbers of training also go to TensorBoard at their batch."""

import numbers
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from determined import core
from determined._json import JsonObject
from determined.errors import InvalidModelException
from determined.pytorch._context import PyTorchTrialContext
from determined.pytorch._reducer import MetricReducer
from determined.trial import ScalarWriter

if TYPE_CHECKING:
    from lightning.pytorch import LightningModule

# Where and how a value is shown is not ours to decide; which it is, is.
_SHOWN_ONLY = frozenset(
    ["add_dataloader_idx", "enable_graph", "logger", "on_epoch", "on_step", "prog_bar", "rank_zero_only", "sync_dist",
     "sync_dist_group"]
)  # fmt: skip
_FOLDS = ("mean", "sum", "min", "max")


class Logged(MetricReducer):
    """The values of one stage since the last reset; registered once for training and once for validation."""

    def __init__(self, module: "LightningModule", distributed: core.DistributedContext) -> None:
        self._module = module
        self._distributed = distributed
        self._has_metrics = any(_keeps_values(part) for part in module.modules())
        self._tallies: dict[str, _Tally] = {}
        self._metrics: JsonObject = {}  # of torchmetrics, which keep their own values

    def add(self, name: str, value: object, fold: str, weight: float) -> None:
        if _keeps_values(value):
            self._metrics[name] = value
            return
        tally = self._tallies.setdefault(name, _Tally(fold))
        tally.add(value, weight)

    def reset(self) -> None:
        self._tallies = {}
        for metric in self._metrics.values():
            metric.reset()
        self._metrics = {}

    def per_slot_reduce(self) -> dict[str, tuple[str, Any, float]]:
        tallies = {name: (tally.fold, tally.total, tally.weight) for name, tally in self._tallies.items()}
        if self._distributed.size > 1 and self._has_metrics:
            self._learn_of_others()
        # torchmetrics exchanges with the other ranks in `compute`; what it gives is the same on all of them.
        return tallies | {name: ("mean", self._metrics[name].compute(), 1.0) for name in sorted(self._metrics)}

    def cross_slot_reduce(self, per_slot_metrics: list[dict[str, tuple[str, Any, float]]]) -> JsonObject:
        names = dict.fromkeys(name for slot in per_slot_metrics for name in slot)
        return {name: _over_slots([slot[name] for slot in per_slot_metrics if name in slot]) for name in names}

    def _learn_of_others(self) -> None:
        """A rank without a batch has logged nothing, and the others would wait for it in `compute` for ever."""
        places = {id(part): place for place, part in self._module.named_modules()}
        own = {name: places[id(metric)] for name, metric in self._metrics.items() if id(metric) in places}
        for theirs in self._distributed.allgather(own):
            for name, place in theirs.items():
                self._metrics.setdefault(name, self._module.get_submodule(place))


class _Tally:
    """Values of one name, on their device until they are reported."""

    def __init__(self, fold: str) -> None:
        self.fold = fold
        self.total: object = None
        self.weight = 0.0

    def add(self, value: Any, weight: float) -> None:
        share = value * weight if self.fold == "mean" else value
        self.total = share if self.total is None else _folded(self.fold, self.total, share)
        self.weight += weight


class ModuleLog:
    """Replacement of `log`, `log_dict` and `print` of a module."""

    def __init__(self, module: "LightningModule", context: PyTorchTrialContext) -> None:
        self._module = module
        self._context = context
        self._training = context.wrap_reducer(Logged(module, context.distributed), for_validation=False)
        self._validation = context.wrap_reducer(Logged(module, context.distributed), for_training=False)
        self._points: list[tuple[str, Any, int]] = []
        self._writer: ScalarWriter | None = None

    def log(self, name: str, value: object, *unknown: object, **options: object) -> None:
        fold, weight, is_shown = _understood(name, unknown, options)
        value = _checked(name, value)
        is_training = self._module.training
        (self._training if is_training else self._validation).add(name, value, fold, weight)
        batch = self._context._current_batch_idx
        if is_training and is_shown and batch is not None and self._context.distributed.rank == 0:
            self._points.append((name, value, batch))

    def log_dict(self, dictionary: Mapping[str, object], *unknown: object, **options: object) -> None:
        for name, value in dictionary.items():
            self.log(name, value, *unknown, **options)

    def print(self, *words: object, sep: str = " ", end: str = "\n", **_options: object) -> None:
        if self._context.distributed.rank == 0:
            sys.stdout.write(sep.join(map(str, words)) + end)

    def __deepcopy__(self, memo: dict[int, object]) -> "ModuleLog":
        """A copy of the module, as averages of weights are kept in, logs to the same place."""
        return self

    def write_points(self) -> None:
        """Write to TensorBoard where metrics are reported anyway, so that the device is waited for once."""
        points, self._points = self._points, []
        if not points or not self._context.get_enable_tensorboard_logging():
            return
        self._writer = self._writer or ScalarWriter(self._context.get_tensorboard_path())
        for name, value, batch in points:
            if not _keeps_values(value):
                self._writer.add_scalar(name, float(value), batch)
        self._writer.flush()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def _understood(name: str, unknown: tuple[object, ...], options: JsonObject) -> tuple[str, float, bool]:
    rest = set(options) - _SHOWN_ONLY - {"reduce_fx", "batch_size"}
    if unknown or rest:
        words = ", ".join(sorted(rest)) or "arguments without a name"
        raise InvalidModelException(
            f"self.log({name!r}) was given {words}, which LightningAdapter does not support; leave it out, or reduce "
            "the metric by context.wrap_reducer"
        )
    fold = options.get("reduce_fx", "mean")
    fold = fold if isinstance(fold, str) else getattr(fold, "__name__", repr(fold))
    if fold not in _FOLDS:
        raise InvalidModelException(
            f"self.log({name!r}, reduce_fx={fold}) is not supported; give one of {', '.join(_FOLDS)}, or reduce the "
            "metric by context.wrap_reducer"
        )
    return fold, float(options.get("batch_size") or 1), bool(options.get("logger", True))


def _checked(name: str, value: object) -> object:
    if isinstance(value, torch.Tensor):
        if value.numel() != 1:
            raise InvalidModelException(
                f"self.log({name!r}) got a tensor of {value.numel()} numbers; log one number, e.g. its mean()"
            )
        return value.detach().reshape(()).clone()  # the caller may change it in place
    if _keeps_values(value) or (isinstance(value, numbers.Number) and not isinstance(value, complex)):
        return value
    raise InvalidModelException(
        f"self.log({name!r}) got a {type(value).__name__}; log one number or a torchmetrics.Metric"
    )


def _keeps_values(value: object) -> bool:
    """A metric of torchmetrics."""
    return hasattr(value, "compute") and hasattr(value, "reset")


def _folded(fold: str, one: object, other: Any) -> object:
    if fold in ("mean", "sum"):
        return one + other
    pick = torch.minimum if fold == "min" else torch.maximum
    return pick(torch.as_tensor(one), torch.as_tensor(other))


def _over_slots(shares: list[tuple[str, Any, float]]) -> object:
    fold, total, weight = shares[0]
    for _, other, more in shares[1:]:
        total, weight = _folded(fold, total, other), weight + more
    return total / weight if fold == "mean" else total
