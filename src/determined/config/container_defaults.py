"""task_container_defaults: their fields, a pool's over the cluster's, and both under an experiment config."""

from determined._json import JsonObject
from determined.config.engine_sections import default_fields, joined_arguments
from determined.config.environment import BIND_MOUNTS, BindMount, Environment, Images, RegistryAuth, Variables
from determined.config.experiment_schema import ExperimentConfig
from determined.config.log_policies import LOG_POLICIES, LogPolicy
from determined.config.merging import merge
from determined.config.pod_spec import PodSpec
from determined.config.resources import CONTAINERS, DEVICES, DeviceMount, Resources
from determined.config.sections import Pbs
from determined.schema.lists import SetList
from determined.schema.node import Boolean, Integer, Text
from determined.schema.section import Section, field

_AS_IN_EXPERIMENTS = "As in experiments."


class KubernetesDefaults(Section):
    max_slots_per_pod: int | None = field(Integer(low=1), "Slots of one pod.", default=None, fill=False)


class TaskContainerDefaults(Section, added=default_fields(_AS_IN_EXPERIMENTS)):
    """Settings of the cluster, or of a pool, that are laid under the config of every task."""

    shm_size_bytes: int | None = field(Integer(low=1), "Shared memory.", default=None, fill=False, engines=CONTAINERS)
    network_mode: str | None = field(
        Text(), "Default: the engine's own `network`.", default=None, fill=False, engines=CONTAINERS
    )
    dtrain_network_interface: str | None = field(
        Text(), "Interface for distributed training.", default=None, fill=False
    )
    nccl_port_range: str | None = field(Text(), "Given to tasks as `NCCL_PORT_RANGE`.", default=None, fill=False)
    gloo_port_range: str | None = field(Text(), "Given to tasks as `GLOO_PORT_RANGE`.", default=None, fill=False)
    cpu_pod_spec: JsonObject | None = field(PodSpec(), "For Kubernetes.", default=None, fill=False, engines=())
    gpu_pod_spec: JsonObject | None = field(PodSpec(), "For Kubernetes.", default=None, fill=False, engines=())
    checkpoint_gc_pod_spec: JsonObject | None = field(
        PodSpec(), "For Kubernetes.", default=None, fill=False, engines=()
    )
    image: Images = field(Images, _AS_IN_EXPERIMENTS, default={}, fill=False, engines=CONTAINERS)
    registry_auth: RegistryAuth | None = field(
        RegistryAuth, _AS_IN_EXPERIMENTS, default=None, fill=False, engines=CONTAINERS
    )
    force_pull_image: bool = field(Boolean(), _AS_IN_EXPERIMENTS, default=False, fill=False, engines=CONTAINERS)
    environment_variables: Variables = field(Variables, _AS_IN_EXPERIMENTS, default={}, fill=False)
    add_capabilities: tuple[str, ...] = field(
        SetList(Text()), _AS_IN_EXPERIMENTS, default=[], fill=False, engines=CONTAINERS
    )
    drop_capabilities: tuple[str, ...] = field(
        SetList(Text()), _AS_IN_EXPERIMENTS, default=[], fill=False, engines=CONTAINERS
    )
    devices: tuple[DeviceMount, ...] = field(DEVICES, _AS_IN_EXPERIMENTS, default=[], fill=False, engines=CONTAINERS)
    bind_mounts: tuple[BindMount, ...] = field(BIND_MOUNTS, _AS_IN_EXPERIMENTS, default=[], fill=False)
    work_dir: str | None = field(Text(), "Working directory of the tasks.", default=None, fill=False)
    shared_tmp: bool = field(
        Boolean(), "Tasks use the node's `/tmp` instead of one of their own.", default=False, fill=False, since="0.39"
    )
    pbs: Pbs | None = field(Pbs, _AS_IN_EXPERIMENTS, default=None, fill=False, engines=())
    startup_hook: str | None = field(Text(), "Shell text run before each entrypoint.", default=None, fill=False)
    log_policies: tuple[LogPolicy, ...] = field(LOG_POLICIES, _AS_IN_EXPERIMENTS, default=[], fill=False)
    preemption_timeout: int | None = field(Integer(low=0), _AS_IN_EXPERIMENTS, default=None, fill=False)
    kubernetes: KubernetesDefaults | None = field(
        KubernetesDefaults, "For Kubernetes.", default=None, fill=False, engines=()
    )


def overlay_container_defaults(pool: JsonObject | None, cluster: JsonObject | None) -> JsonObject:
    """Lay a pool's over the cluster's. Only what a pool sets overrides (upstream's resets more by accident)."""
    high, low = TaskContainerDefaults.canonical(pool or {}), TaskContainerDefaults.canonical(cluster or {})
    merged = TaskContainerDefaults.merge(high, low)
    for key in ("cpu_pod_spec", "gpu_pod_spec", "checkpoint_gc_pod_spec"):
        if key in high:
            merged[key] = high[key]
    if "environment_variables" in high and "environment_variables" in low:
        merged["environment_variables"] = _replace_by_name(high["environment_variables"], low["environment_variables"])
    return _join_batch_args(merged, first=high, then=low)


def merge_task_container_defaults(config: JsonObject, defaults: JsonObject) -> JsonObject:
    """Lay `defaults` (one overlaid layer) under a canonical experiment config. Batch arguments add up."""
    low = TaskContainerDefaults.canonical(defaults)
    merged = merge(config, _as_experiment(low, slots=_slots(config)))
    return _join_batch_args(merged, first=low, then=config)


def _as_experiment(defaults: JsonObject, *, slots: int) -> JsonObject:
    top, environment, resources = (
        {key: defaults[key] for key in section.schema.fields if key in defaults}
        for section in (ExperimentConfig, Environment, Resources)
    )
    pod_spec = defaults.get("gpu_pod_spec" if slots > 0 else "cpu_pod_spec")
    if pod_spec is not None:
        environment["pod_spec"] = pod_spec
    if "shm_size_bytes" in defaults:
        resources["shm_size"] = defaults["shm_size_bytes"]
    sections = {"environment": environment, "resources": resources}
    return {**top, **{key: value for key, value in sections.items() if value}}


def _slots(config: JsonObject) -> int:
    resources = config.get("resources")
    resources = resources if isinstance(resources, dict) else {}
    slots = resources.get("slots_per_trial", resources.get("slots", 1))
    return slots if isinstance(slots, int) else 1


def _join_batch_args(merged: JsonObject, *, first: JsonObject, then: JsonObject) -> JsonObject:
    for section, key in joined_arguments():
        args = [_args(layer, section, key) for layer in (first, then)]
        if all(args):
            merged = {**merged, section: {**merged[section], key: args[0] + args[1]}}
    return merged


def _args(layer: JsonObject, section: str, key: str) -> list[str]:
    settings = layer.get(section)
    args = settings.get(key) if isinstance(settings, dict) else None
    return args if isinstance(args, list) else []


def _replace_by_name(high: JsonObject, low: JsonObject) -> JsonObject:
    devices = [*low, *(device for device in high if device not in low)]
    return {device: _replace_entries(high.get(device, []), low.get(device, [])) for device in devices}


def _replace_entries(high: list[str], low: list[str]) -> list[str]:
    replaced = {entry.partition("=")[0] for entry in high}
    return [entry for entry in low if entry.partition("=")[0] not in replaced] + high
