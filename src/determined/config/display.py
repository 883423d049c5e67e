"""A config as people read it: what was set, without the defaults that every other config has too."""

from determined._json import JsonObject, JsonValue
from determined.config.experiment_schema import ExperimentConfig

# Sections that come in kinds, each with its own defaults.
_KINDS = {"searcher": "name", "checkpoint_storage": "type"}


def without_defaults(config: JsonObject) -> JsonObject:
    """Copy a filled experiment config without what filling would add again."""
    kinds = {
        section: {tag: config[section][tag]}
        for section, tag in _KINDS.items()
        if isinstance(config.get(section), dict) and config[section].get(tag) is not None
    }
    defaults = ExperimentConfig.fill(kinds)
    shown: JsonObject = {key: _set(value, defaults.get(key)) for key, value in config.items()}
    # The kind itself is what a reader looks for first.
    shown |= {section: {**kinds[section], **(shown[section] or {})} for section in kinds}
    return {key: value for key, value in shown.items() if not _is_empty(value)}


def _set(value: JsonValue, default: JsonValue) -> JsonValue:
    """Keep the part of a value that differs from its default; None where nothing does."""
    if value == default:
        return None
    if not isinstance(value, dict) or not isinstance(default, dict):
        return value
    changed = {key: _set(item, default.get(key)) for key, item in value.items()}
    return {key: item for key, item in changed.items() if not _is_empty(item)}


def _is_empty(value: JsonValue) -> bool:
    return value is None or value in ({}, [])
