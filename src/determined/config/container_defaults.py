"""task_container_defaults: schema, a pool's over the cluster's, and both under an experiment config."""

from typing import Any

from determined.config.environment import (
    BIND_MOUNTS,
    DOCKER,
    IMAGE,
    REGISTRY_AUTH,
    VARIABLES,
    canonical_image,
    canonical_variables,
)
from determined.config.log_policies import LOG_POLICIES, canonical_log_policies
from determined.config.merging import merge
from determined.config.node import Boolean, Integer, SetList, Text
from determined.config.objects import Field, Object
from determined.config.pod_spec import PodSpec
from determined.config.resources import DEVICES, canonical_device
from determined.config.sections import PBS, SLURM

DEFAULT_SHM_SIZE_BYTES = 4 * 1024**3
DEFAULT_NETWORK_MODE = "bridge"

TASK_CONTAINER_DEFAULTS = Object(
    {
        "shm_size_bytes": Field(Integer(low=1), honoured_by=DOCKER),
        "network_mode": Field(Text(), honoured_by=DOCKER),
        "dtrain_network_interface": Field(Text()),
        "nccl_port_range": Field(Text()),
        "gloo_port_range": Field(Text()),
        "cpu_pod_spec": Field(PodSpec(), honoured_by=()),
        "gpu_pod_spec": Field(PodSpec(), honoured_by=()),
        "checkpoint_gc_pod_spec": Field(PodSpec(), honoured_by=()),
        "image": Field(IMAGE, honoured_by=DOCKER),
        "registry_auth": Field(REGISTRY_AUTH, honoured_by=DOCKER),
        "force_pull_image": Field(Boolean(), honoured_by=DOCKER),
        "environment_variables": Field(VARIABLES),
        "add_capabilities": Field(SetList(Text()), honoured_by=DOCKER),
        "drop_capabilities": Field(SetList(Text()), honoured_by=DOCKER),
        "devices": Field(DEVICES, honoured_by=DOCKER),
        "bind_mounts": Field(BIND_MOUNTS),
        "work_dir": Field(Text()),
        "shared_tmp": Field(Boolean()),
        "slurm": Field(SLURM, honoured_by=("slurm",)),
        "pbs": Field(PBS, honoured_by=()),
        "startup_hook": Field(Text()),
        "log_policies": Field(LOG_POLICIES),
        "preemption_timeout": Field(Integer(low=0)),
        "kubernetes": Field(Object({"max_slots_per_pod": Field(Integer(low=1))}), honoured_by=()),
    }
)


def canonical_container_defaults(raw: Any) -> Any:
    """Nulls dropped, short forms written out, as for experiment configs."""
    if not isinstance(raw, dict):
        return raw
    rewrites = {
        "image": canonical_image,
        "environment_variables": canonical_variables,
        "log_policies": canonical_log_policies,
        "devices": _canonical_devices,
    }
    stripped = TASK_CONTAINER_DEFAULTS.strip(raw)
    return {key: rewrites[key](value) if key in rewrites else value for key, value in stripped.items()}


def overlay_container_defaults(pool: dict[str, Any] | None, cluster: dict[str, Any] | None) -> dict[str, Any]:
    """A pool's over the cluster's. Only what a pool sets overrides (upstream's resets more by accident)."""
    high, low = canonical_container_defaults(pool or {}), canonical_container_defaults(cluster or {})
    merged: dict[str, Any] = TASK_CONTAINER_DEFAULTS.merge(high, low)
    for key in ("cpu_pod_spec", "gpu_pod_spec", "checkpoint_gc_pod_spec"):
        if key in high:
            merged[key] = high[key]
    if "environment_variables" in high and "environment_variables" in low:
        merged["environment_variables"] = _replace_by_name(high["environment_variables"], low["environment_variables"])
    return _join_batch_args(merged, first=high, then=low)


def merge_task_container_defaults(config: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """`defaults` (one overlaid layer) under a canonical experiment config. Batch arguments add up, defaults first."""
    low = canonical_container_defaults(defaults)
    merged = merge(config, _as_experiment(low, slots=_slots(config)))
    return _join_batch_args(merged, first=low, then=config)


def _as_experiment(defaults: dict[str, Any], *, slots: int) -> dict[str, Any]:
    environment = {key: defaults[key] for key in _ENVIRONMENT_KEYS if key in defaults}
    pod_spec = defaults.get("gpu_pod_spec" if slots > 0 else "cpu_pod_spec")
    if pod_spec is not None:
        environment["pod_spec"] = pod_spec
    resources = {
        new: defaults[old] for old, new in (("shm_size_bytes", "shm_size"), ("devices", "devices")) if old in defaults
    }
    top = {key: defaults[key] for key in _TOP_KEYS if key in defaults}
    sections = {"environment": environment, "resources": resources}
    return {**top, **{key: value for key, value in sections.items() if value}}


_ENVIRONMENT_KEYS = (
    "image", "registry_auth", "force_pull_image", "environment_variables", "add_capabilities", "drop_capabilities",
    "shared_tmp",
)  # fmt: skip
_TOP_KEYS = ("bind_mounts", "slurm", "pbs", "log_policies", "preemption_timeout")


def _slots(config: dict[str, Any]) -> int:
    resources = config.get("resources")
    resources = resources if isinstance(resources, dict) else {}
    slots = resources.get("slots_per_trial", resources.get("slots", 1))
    return slots if isinstance(slots, int) else 1


def _join_batch_args(merged: dict[str, Any], *, first: dict[str, Any], then: dict[str, Any]) -> dict[str, Any]:
    for section, key in (("slurm", "sbatch_args"), ("pbs", "pbsbatch_args")):
        args = [_args(layer, section, key) for layer in (first, then)]
        if all(args):
            merged = {**merged, section: {**merged[section], key: args[0] + args[1]}}
    return merged


def _args(layer: dict[str, Any], section: str, key: str) -> list[Any]:
    found = layer.get(section)
    args = found.get(key) if isinstance(found, dict) else None
    return args if isinstance(args, list) else []


def _replace_by_name(high: dict[str, Any], low: dict[str, Any]) -> dict[str, Any]:
    devices = [*low, *(device for device in high if device not in low)]
    return {device: _replace_entries(high.get(device, []), low.get(device, [])) for device in devices}


def _replace_entries(high: list[str], low: list[str]) -> list[str]:
    replaced = {entry.partition("=")[0] for entry in high}
    return [entry for entry in low if entry.partition("=")[0] not in replaced] + high


def _canonical_devices(raw: Any) -> Any:
    return [canonical_device(device) for device in raw] if isinstance(raw, list) else raw
