"""Values of other trackers as every database and our wire take them. Pure."""

import json
import math
import re
from datetime import UTC, datetime
from typing import Any

from determined._json import JsonObject, JsonValue
from determined.config.secret_names import mask_logins
from determined.wire.userdata import as_float

MAX_DEPTH = 50  # lists and objects inside one another; whoever stores and reads the data recurses into them
_LARGEST = 2**63
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_BAD = "�"


def clean_text(text: str) -> str:
    """Replace NUL and halves of surrogate pairs, which PostgreSQL and JSON refuse."""
    whole = text.encode(errors="surrogatepass").decode(errors="replace")
    return whole.replace("\0", _BAD)


def clean_name(text: str) -> str:
    """Clean the text of a name or label, one line: what ends a line or moves a cursor is a space."""
    return _CONTROL.sub(" ", clean_text(text)).strip()


def parse_moment(text: str) -> datetime:
    """Parse an ISO 8601 time; one without a zone is in UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def parse_json(text: str | bytes) -> Any:
    """Parse JSON of a stranger. Raises ValueError, also for what is nested deeper than MAX_DEPTH."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH + 1:
            raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")
        level = [inner for outer in level for inner in _inside(outer)]
    return value


def _inside(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def clean_object(value: JsonObject) -> JsonObject:
    """Return an object for a JSON column: NaN and infinities as text, larger integers than a column takes as floats."""
    return {clean_text(str(key)): clean_json(item) for key, item in value.items()}


def clean_json(value: object) -> JsonValue:
    """Clean one value of any depth; what is no JSON becomes text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -_LARGEST <= value < _LARGEST else clean_json(as_float(value))
    if isinstance(value, float):
        return value if math.isfinite(value) else "NaN" if math.isnan(value) else f"{'-' * (value < 0)}Infinity"
    if isinstance(value, dict):
        return clean_object(value)
    if isinstance(value, list | tuple):
        return [clean_json(item) for item in value]
    return clean_text(str(value))


def masked_object(value: JsonObject) -> JsonObject:
    """Hide the logins in the URLs of an object's texts: in hyperparameters and metadata everybody sees them."""
    return {key: _masked(item) for key, item in value.items()}


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return mask_logins(value)
    if isinstance(value, dict):
        return masked_object(value)
    return [_masked(item) for item in value] if isinstance(value, list | tuple) else value


def clean_metrics(metrics: JsonObject) -> JsonObject:
    """Clean names and values of metrics, which may be NaN and infinite."""
    return {clean_text(str(name)): _metric(value) for name, value in metrics.items()}


def _metric(value: object) -> JsonValue:
    if isinstance(value, float):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and not -_LARGEST <= value < _LARGEST:
        return as_float(value)
    return clean_json(value)
