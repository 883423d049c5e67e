"""Secrets out of configs before anybody reads them. Trials still receive the real values."""

from collections.abc import Iterator
from typing import Any, cast

from determined._json import JsonObject, JsonValue
from determined.config.experiment_schema import ExperimentConfig
from determined.config.requirement_lines import without_logins
from determined.config.secret_names import is_secret_key, mask_logins, mask_variable, unmask
from determined.constants import MASKED
from determined.schema.secrets import secret_names
from determined.schema.section import Section

_VARIABLES = "environment_variables"


Names = dict[str, frozenset[str]]
"""Secret keys by the key of their section."""


def mask_secrets(raw: JsonObject, section: type[Section] | None = None) -> JsonObject:
    """Copy a config of a kind, by default an experiment's, so that it may be shown. Hyperparameters are no secrets."""
    names = _names(section)
    masked = {key: value if key == "hyperparameters" else _mask(key, value, names) for key, value in raw.items()}
    data = masked.get("data")
    if isinstance(data, dict):
        masked["data"] = _mask_data(data)
    return masked


def _names(section: type[Section] | None) -> Names:
    """Look up the secret keys of a config; the walk over its schema is done once."""
    kind = section or ExperimentConfig
    if kind not in _NAMES:
        _NAMES[kind] = secret_names(kind.schema)
    return _NAMES[kind]


_NAMES: dict[type[Section], Names] = {}


def restore_secrets(given: JsonObject, known: JsonObject) -> JsonObject:
    """Copy `given` with the secrets of `known` where it still holds what `mask_secrets` shows in their place."""
    return cast(JsonObject, _restore(given, known, mask_secrets(known)))


def masked_places(raw: JsonObject) -> list[str]:
    """List where a config holds the mask and not a secret: nothing can be done with it."""
    return list(_masked(raw, mask_secrets(cast(JsonObject, _unmask(raw))), ""))


def _restore(given: JsonValue, known: JsonValue, shown: Any) -> JsonValue:
    if isinstance(given, dict) and isinstance(known, dict):
        return {
            key: _restore_variables(value, known.get(key))
            if key == _VARIABLES
            else _restore(value, known.get(key), shown.get(key))
            for key, value in given.items()
        }
    if isinstance(given, list) and isinstance(known, list) and len(given) == len(known):
        return [_restore(*three) for three in zip(given, known, shown, strict=True)]
    return known if isinstance(given, str) and given == shown else given


def _restore_variables(given: JsonValue, known: JsonValue) -> JsonValue:
    """Restore variables by name: a fork may add some, and may say for all devices what the parent says for each."""
    if isinstance(given, dict):
        by_device = known if isinstance(known, dict) else {}
        return {
            device: _restore_variables(entries, by_device.get(device) or known) for device, entries in given.items()
        }
    if not isinstance(given, list):
        return given
    shown = {mask_variable(entry): entry for entry in _texts(known)}
    return [shown.get(entry, entry) if isinstance(entry, str) else entry for entry in given]


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _masked(raw: JsonValue, shown: Any, path: str) -> Iterator[str]:
    if isinstance(raw, dict):
        for key, value in raw.items():
            yield from _masked(value, shown[key], f"{path}.{key}" if path else str(key))
    elif isinstance(raw, list):
        for index, value in enumerate(raw):
            yield from _masked(value, shown[index], f"{path}[{index}]")
    elif isinstance(raw, str) and raw == shown != unmask(raw):
        yield path


def _unmask(value: JsonValue) -> JsonValue:
    """Unmask every text, so that only what `mask_secrets` masks is masked afterwards."""
    if isinstance(value, dict):
        return {key: _unmask(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_unmask(item) for item in value]
    return unmask(value) if isinstance(value, str) else value


def _mask(section: str, value: JsonValue, names: Names) -> JsonValue:
    if section == _VARIABLES:
        return _mask_variables(value)
    if isinstance(value, list):
        return [_mask(section, item, names) for item in value]
    if isinstance(value, str):
        return mask_logins(value)
    if not isinstance(value, dict):
        return value
    secret = names.get(section, ())
    masked = {key: _mask_all(item) if key in secret else _mask(key, item, names) for key, item in value.items()}
    lines = value.get("requirements")
    if section == "python" and isinstance(lines, list):
        masked["requirements"] = [_mask_line(line) for line in lines]
    return masked


def _mask_variables(value: JsonValue) -> JsonValue:
    """`NAME=value` for all devices, or by device."""
    if isinstance(value, dict):
        return {device: _mask_variables(entries) for device, entries in value.items()}
    if isinstance(value, list):
        return [_mask_variables(entry) for entry in value]
    return mask_variable(value) if isinstance(value, str) else value


def _mask_data(value: JsonValue) -> JsonValue:
    """`data` is the user's own: `secrets`, keys that are called like secrets, and logins in URLs."""
    if isinstance(value, dict):
        return {
            key: _mask_all(item) if key == "secrets" or is_secret_key(str(key)) else _mask_data(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_mask_data(item) for item in value]
    return mask_logins(value) if isinstance(value, str) else value


def _mask_line(line: JsonValue) -> JsonValue:
    """Mask a line with the login of an index. An empty one is no requirement: `_unmask` makes it of a masked one."""
    if not isinstance(line, str):
        return line
    return MASKED if line == "" or without_logins(line) != line else line


def _mask_all(value: JsonValue) -> JsonValue:
    """Hide every leaf; the shape stays, so that a reader still sees which secrets exist."""
    if isinstance(value, dict):
        return {key: _mask_all(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_mask_all(item) for item in value]
    return None if value is None else MASKED
