"""Metrics in what a script prints: numbers beside the number of a step. Pure.

Read are lines that are a JSON object with a step, and lines of `name=number` or `name: number` with a step among them
or before them (`epoch 3: val_loss=0.2`, `step=10 loss=0.5`, `[Epoch 3/10] loss: 0.5`). Numbers without a step are not.
"""

import json
import math
import re
from dataclasses import dataclass

# No plurals: `epochs=14` among printed arguments is a total.
_STEPS = ("global_step", "step", "iteration", "iter", "batch", "batch_idx", "epoch")
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf|infinity)"
_PAIR = re.compile(rf"(?<![\w./-])([A-Za-z][\w./-]*)\s*[=:]\s*({_NUMBER})(?![\w.:/-])", re.IGNORECASE)
_LED = re.compile(rf"\b({'|'.join(_STEPS)})\s*(?:[=:#]\s*)?\[?(\d+)(?:\s*/\s*\d+)?\b", re.IGNORECASE)
_VALIDATION = re.compile(r"(?:^|[^a-z])(?:val|valid|validation|eval|evaluation|test)(?:[^a-z]|$)", re.IGNORECASE)
_LONGEST_LINE = 4000
_LONGEST_NAME = 100
_MOST = 100


@dataclass(frozen=True, slots=True)
class Reading:
    group: str
    step: int
    metrics: dict[str, float]


def read_line(line: str) -> list[Reading]:
    """Return the metrics of a line, by group; an empty list for a line that reports none."""
    if len(line) > _LONGEST_LINE or not any(map(str.isdigit, line)):
        return []
    text = line.strip()
    values = _of_json(text) if text.startswith("{") else _of_pairs(text)
    if values is None:
        return []
    step, metrics = values
    return _grouped(step, metrics)


def _of_json(text: str) -> tuple[int, dict[str, float]] | None:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    return _with_step({name: number for name, value in content.items() if (number := _float(value)) is not None})


def _float(value: object) -> float | None:
    """Return a number as a float; None for what is no number, and for an integer that no float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _of_pairs(text: str) -> tuple[int, dict[str, float]] | None:
    if "=" not in text and ":" not in text:
        return None
    numbers = {name.strip(".-/"): float(value) for name, value in _PAIR.findall(text)}
    if not numbers:
        return None
    names = {name.lower() for name in numbers}
    steps = {name.lower(): float(value) for name, value in reversed(_LED.findall(text)) if name.lower() not in names}
    return _with_step(numbers | steps)


def _with_step(numbers: dict[str, float]) -> tuple[int, dict[str, float]] | None:
    """Return the step and the other numbers. The finest step counts; an epoch beside it is a number like any."""
    lower = {name.lower(): name for name in numbers}
    found = next((lower[step] for step in _STEPS if step in lower), None)
    if found is None:
        return None
    step = numbers.pop(found)
    if not math.isfinite(step) or step < 0 or step != int(step) or step >= 1 << 63:
        return None
    kept = {name: value for name, value in list(numbers.items())[:_MOST] if _is_name(name)}
    return (int(step), kept) if kept else None


def _is_name(name: str) -> bool:
    """Return whether a name can be kept: half of a surrogate pair, which JSON may hold, has no UTF-8."""
    return len(name) <= _LONGEST_NAME and name.isprintable()


def _grouped(step: int, metrics: dict[str, float]) -> list[Reading]:
    validation = {name: value for name, value in metrics.items() if _VALIDATION.search(name)}
    training = {name: value for name, value in metrics.items() if name not in validation}
    if validation and set(map(str.lower, training)) <= set(_STEPS):
        validation, training = metrics, {}
    parts = (("training", training), ("validation", validation))
    return [Reading(group, step, part) for group, part in parts if part]
