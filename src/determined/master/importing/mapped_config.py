"""Configs of every generation: through our shims, and with defaults in the place of what is not valid any more."""

import json
import re
from dataclasses import dataclass

import msgspec

from determined._json import JsonObject
from determined.config import apply_defaults
from determined.config.experiment import ROOT, find_violations

_SECTION = re.compile(re.escape(ROOT) + r"\.(\w+)")
_SEARCHER: JsonObject = {"name": "single", "metric": "validation_loss"}
_STORAGE: JsonObject = {"type": "shared_fs", "host_path": "/tmp"}
_PASSES = 3


@dataclass(frozen=True, slots=True)
class MappedConfig:
    active: JsonObject
    problems: list[str]  # violations of what was replaced


def map_config(text: str | None, name: str) -> MappedConfig:
    """Return the active config. `name`: of an experiment whose config has none."""
    raw = _parse(text)
    problems = [] if raw is not None else [f"{ROOT}: is no JSON object"]
    config = raw or {}
    for _ in range(_PASSES):
        violations = find_violations(config, complete=True)
        if not violations:
            break
        problems += violations
        config = _repaired(config, violations)
    return MappedConfig(apply_defaults(config, seed=0, name=name), problems)


def _parse(text: str | None) -> JsonObject | None:
    try:
        raw = msgspec.json.decode(text or "null")
    except msgspec.DecodeError:
        raw = _parse_leniently(text or "")
    return raw if isinstance(raw, dict) else None


def _parse_leniently(text: str) -> object:
    """Parse numbers that no double can hold, which PostgreSQL stores."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _repaired(config: JsonObject, violations: list[str]) -> JsonObject:
    """Drop sections with violations; required ones get the least that is valid."""
    wrong = {match[1] for violation in violations if (match := _SECTION.match(violation))}
    of_root = [violation for violation in violations if violation.startswith(f"{ROOT}: ")]
    named = {key for key in config if any(f"`{key}`" in violation for violation in of_root)}
    kept = {key: value for key, value in config.items() if key not in wrong | named}
    missing = {"searcher": _searcher(config), "checkpoint_storage": _STORAGE}
    return {**missing, **kept}


def _searcher(config: JsonObject) -> JsonObject:
    """Keep the metric where it can be read: best trials depend on it."""
    searcher = config.get("searcher")
    metric = searcher.get("metric") if isinstance(searcher, dict) else None
    smaller = searcher.get("smaller_is_better") if isinstance(searcher, dict) else None
    return {
        **_SEARCHER,
        **({"metric": metric} if isinstance(metric, str) and metric else {}),
        **({"smaller_is_better": smaller} if isinstance(smaller, bool) else {}),
    }
