"""Names and values as MLflow takes them. Pure."""

import math
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from determined._json import JsonObject, JsonValue
from determined.bundle.columns import Report
from determined.storage import registry
from determined.wire.codec import float_to_wire, plain

_LONGEST_NAME, _LONGEST_PARAM, LONGEST_TAG = 250, 6000, 5000
_BAD = re.compile(r"[^\w.\- /]")


def name_of(parts: tuple[str, ...]) -> str:
    """Join parts with slashes to a name that MLflow takes: it refuses other characters, and names like paths."""
    kept = [_BAD.sub("_", part).strip() for part in "/".join(parts).split("/")]
    kept = [part if part.strip(".") else "_" * max(1, len(part)) for part in kept if part] or ["_"]
    return "/".join(kept)[:_LONGEST_NAME].rstrip("/ ")


def params(hparams: JsonObject) -> dict[str, str]:
    """Return hyperparameters as texts, nested ones under joined names; of names that become equal the first stays."""
    texts: dict[str, str] = {}
    for parts, value in _flat(hparams, ()):
        text = value if isinstance(value, str) else msgspec.json.encode(plain(value)).decode()
        texts.setdefault(name_of(parts).replace("/", "."), text[:_LONGEST_PARAM])
    return texts


def metrics(report: Report, group: str) -> Iterator[JsonObject]:
    """Yield the numbers of a report as `<group>/<name>`, those in nested values too; JSON has no NaN but its name."""
    time = int(datetime.fromisoformat(report.time).timestamp() * 1000)
    for parts, value in _flat(report.metrics, (group,)):
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield {"key": name_of(parts), "value": _number(value), "timestamp": time, "step": report.step}


def skipped(report: Report) -> int:
    """Count the values that are no numbers."""
    values = (value for _, value in _flat(report.metrics, ()))
    return sum(isinstance(value, bool) or not isinstance(value, int | float) for value in values)


def checkpoint_uri(section: JsonObject, uuid: str) -> str | None:
    """Return where a checkpoint lies, as a URI; None for a storage that has none."""
    store = registry.sections().get(str(section.get("type")))
    url = store.url(section) if store is not None else None
    return f"{url}/{uuid}" if url is not None else None


def _flat(value: JsonObject, parts: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], JsonValue]]:
    for name, item in value.items():
        inner = (*parts, str(name))
        if isinstance(item, dict) and item:
            yield from _flat(item, inner)
        else:
            yield inner, item


def _number(value: float) -> Any:
    """Return a number for protobuf's JSON, which spells NaN and infinities; an integer may be too large for a float."""
    try:
        return float_to_wire(float(value))
    except OverflowError:
        return float_to_wire(math.inf if value > 0 else -math.inf)
