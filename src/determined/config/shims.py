"""Older generations' keys, rewritten to the one canonical form. Never fails: what cannot be
rewritten is left for the check to report. Running it twice changes nothing."""

from typing import TypeGuard

from determined._json import JsonObject
from determined.config.environment import add_variable
from determined.config.experiment_schema import ENTRYPOINT_SCRIPT_VARIABLE, ExperimentConfig

_STEP_KEYS = {
    "max_steps": "max_length",
    "target_trial_steps": "max_length",
    "step_budget": "budget",
    "steps_per_round": "length_per_round",
}
_DEFAULT_BATCHES_PER_STEP = 100


def canonicalize(raw: JsonObject) -> JsonObject:
    """Write a raw experiment config in canonical form: no nulls, no old keys, short forms written out."""
    config = ExperimentConfig.canonical(raw)
    if config.get("version") == 0:
        config = _without(config, "version")
    return _join_entrypoint(_steps_to_batches(config))


def _steps_to_batches(config: JsonObject) -> JsonObject:
    per_step = _first_count(config.get("batches_per_step"), config.get("scheduling_unit"))
    for key in ("min_validation_period", "min_checkpoint_period"):
        if _is_count(config.get(key), low=0):
            config = {**config, key: {"batches": config[key] * per_step}}
    if isinstance(config.get("searcher"), dict):
        config = {**config, "searcher": _searcher_steps(config["searcher"], per_step)}
    if _is_count(config.get("batches_per_step")):
        config = {"scheduling_unit": config["batches_per_step"], **_without(config, "batches_per_step")}
    return config


def _searcher_steps(searcher: JsonObject, per_step: int) -> JsonObject:
    for old, new in _STEP_KEYS.items():
        if _is_count(searcher.get(old)):
            searcher = {new: {"batches": searcher[old] * per_step}, **_without(searcher, old)}
    return searcher


def _join_entrypoint(config: JsonObject) -> JsonObject:
    """`launch_layer L` and `entrypoint_script S` are the command `L S`; S stays readable for launch layers."""
    script, layer = config.get("entrypoint_script"), config.get("launch_layer", "")
    if not isinstance(script, str) or not isinstance(layer, str) or "entrypoint" in config:
        return config
    command = f"{layer} {script}" if layer else script
    if not layer:
        config = _on_one_node(config)
    config = {**_without(_without(config, "entrypoint_script"), "launch_layer"), "entrypoint": command}
    return add_variable(config, f"{ENTRYPOINT_SCRIPT_VARIABLE}={script}")


def _on_one_node(config: JsonObject) -> JsonObject:
    """Refuse slots that need more than one node: nothing makes one job of a plain script on several nodes."""
    resources = config.get("resources", {})
    if not isinstance(resources, dict):
        return config
    return {**config, "resources": {"is_single_node": True, **resources}}


def _without(config: JsonObject, key: str) -> JsonObject:
    return {name: value for name, value in config.items() if name != key}


def _first_count(*values: object) -> int:
    return next((value for value in values if _is_count(value)), _DEFAULT_BATCHES_PER_STEP)


def _is_count(value: object, low: int = 1) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= low
