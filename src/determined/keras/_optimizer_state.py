"""The state of optimizers in an HDF5 file, as every release has named it."""

import contextlib
import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from determined._imports import load_optional
from determined._json import JsonObject

if TYPE_CHECKING:
    from keras import Variable
    from keras.optimizers import Optimizer

logger = logging.getLogger("determined.keras")

OPTIMIZER_FILE = "determined-keras-optimizer-weights.h5"
_GROUP, _NAMES = "optimizer_weights", "weight_names"


def save_optimizers(optimizers: Sequence["Optimizer"], directory: Path) -> None:
    h5py: ModuleType = load_optional("h5py", extra="tensorflow")
    with h5py.File(directory / OPTIMIZER_FILE, "w") as file:
        for number, optimizer in enumerate(optimizers):
            group = file.create_group(f"optimizer-{number}").create_group(_GROUP)
            for place, variable in enumerate(variables_of(optimizer)):
                dataset = group.create_dataset(f"{place:06d}", data=np.asarray(variable.numpy()))
                dataset.attrs["name"] = _name(variable)


def build_optimizer(optimizer: "Optimizer", variables: list["Variable"]) -> None:
    """Have it make its state for these variables of a model now: values can be loaded only into what is there."""
    if hasattr(optimizer, "build"):
        if not getattr(optimizer, "built", False):
            optimizer.build(variables)
    elif hasattr(optimizer, "_create_all_weights"):  # keras.optimizers.legacy of Keras 2
        optimizer._create_all_weights(variables)


@contextlib.contextmanager
def keeping_rates(optimizers: Sequence["Optimizer"]) -> Iterator[None]:
    """Keep learning rates as they are while something is loaded."""
    rates = [rate for rate in map(_rate_of, optimizers) if rate is not None]
    before = [rate.numpy() for rate in rates]
    yield
    for rate, value in zip(rates, before, strict=True):
        rate.assign(value)


def load_optimizers(optimizers: Sequence["Optimizer"], directory: Path) -> None:
    """Put back what was saved; an optimizer whose state is missing or does not fit begins anew, with a warning."""
    file = directory / OPTIMIZER_FILE
    states = _read(file) if file.is_file() else []
    for number, optimizer in enumerate(optimizers):
        if number >= len(states) or not _assign(variables_of(optimizer), states[number]):
            logger.warning(
                "the checkpoint has no state that fits optimizer %s, a %s; it begins anew",
                number, type(optimizer).__name__,
            )  # fmt: skip


def variables_of(optimizer: "Optimizer") -> list["Variable"]:
    """Return everything an optimizer carries from batch to batch, its learning rate among it."""
    attribute = getattr(optimizer, "variables", None)
    variables = list(attribute()) if callable(attribute) and not isinstance(attribute, list) else list(attribute or [])
    rate = _rate_of(optimizer)
    return variables if rate is None or any(variable is rate for variable in variables) else [*variables, rate]


def _rate_of(optimizer: "Optimizer") -> "Variable":
    """The variable; None where a schedule tells the learning rate."""
    optimizer = getattr(optimizer, "inner_optimizer", optimizer)  # of one that scales losses
    legacy = getattr(optimizer, "_hyper", {}).get("learning_rate")
    rate = getattr(optimizer, "_learning_rate", legacy)
    return rate if hasattr(rate, "assign") else None


def _read(file: Path) -> list[JsonObject]:
    """The values of each optimizer by name, in the order they were saved in."""
    h5py: ModuleType = load_optional("h5py", extra="tensorflow")
    with h5py.File(file, "r") as stored:
        names = sorted(stored, key=lambda name: [int(part) for part in re.findall(r"\d+", name)])
        groups = [stored] if _GROUP in stored else [stored[name] for name in names]
        return [_values(group.get(_GROUP, group)) for group in groups]


def _values(group: Any) -> JsonObject:
    """Read the values of a file. Ours are numbered and carry their names; Keras's are listed by name."""
    listed = [name for key in sorted(group.attrs) if key.startswith(_NAMES) for name in group.attrs[key]]
    texts = [name.decode() if isinstance(name, bytes) else name for name in listed] or sorted(group)
    return {str(group[text].attrs.get("name", text)): np.asarray(group[text]) for text in texts}


def _assign(variables: list["Variable"], state: JsonObject) -> bool:
    values = list(state.values())
    if [tuple(variable.shape) for variable in variables] == [np.shape(value) for value in values]:
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value)
        return True
    return _assign_by_kind(variables, state)


def _assign_by_kind(variables: list["Variable"], state: JsonObject) -> bool:
    """Another release of Keras has saved it: the same moments in another order, under other names."""
    own = _by_kind({_name(variable): variable for variable in variables})
    saved = _by_kind(state)
    moments = set(own) - {"rate", "steps"}
    if not moments <= set(saved) or None in own:
        return False
    pairs = [pair for kind in set(own) & set(saved) for pair in zip(own[kind], saved[kind], strict=False)]
    if len(pairs) < sum(len(own[kind]) for kind in moments):
        return False
    if any(tuple(variable.shape) != np.shape(value) for variable, value in pairs):
        return False
    for variable, value in pairs:
        variable.assign(value)
    return True


def _by_kind(named: JsonObject) -> dict[str | None, list[Any]]:
    kinds: dict[str | None, list[object]] = {}
    for name, each in named.items():
        kinds.setdefault(_kind(name), []).append(each)
    return kinds


def _kind(name: str) -> str | None:
    """`Adam/dense/kernel/m:0`, `Adam/m/dense/kernel:0` and `adam/dense_kernel_momentum` are one kind of moment."""
    bare = name.removesuffix(":0")
    if bare.endswith("learning_rate"):
        return "rate"
    parts = re.split("[/_]", bare)
    return next((_KINDS[part] for part in (parts[-1], *parts[:2]) if part in _KINDS), None)


def _name(variable: "Variable") -> str:
    return str(getattr(variable, "path", variable.name))


_KINDS = {
    "iter": "steps",
    "iteration": "steps",
    "iterations": "steps",
    "m": "first",
    "momentum": "first",
    "v": "second",
    "velocity": "second",
    "rms": "second",
    "accumulator": "accumulator",
}
