"""Configs of jobs that are not experiments: commands, notebooks, shells, TensorBoards."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from determined.config.container_defaults import merge_task_container_defaults
from determined.config.environment import (
    BIND_MOUNTS,
    ENVIRONMENT,
    BindMount,
    Environment,
    canonical_environment,
    parse_bind_mounts,
    parse_environment,
)
from determined.config.layers import checked
from determined.config.node import Boolean, Integer, ListOf, MustBeNull, Node, Number, Report, Text
from determined.config.objects import Field, Object
from determined.config.quantities import parse_duration
from determined.config.resources import DEVICES, INT32_MAX, PRIORITY_RANGE, SIZE, DeviceMount, canonical_resources
from determined.config.sections import PBS, SLURM
from determined.errors import InvalidArgument


@dataclass(frozen=True, slots=True)
class JobResources:
    slots: int = 1
    max_slots: int | None = None
    weight: float = 1
    priority: int | None = None
    resource_pool: str = ""
    shm_size: int | None = None
    devices: tuple[DeviceMount, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobConfig:
    """`idle_timeout` is in seconds; `raw` is what is stored and shown."""

    description: str | None
    entrypoint: tuple[str, ...]
    environment: Environment
    bind_mounts: tuple[BindMount, ...]
    resources: JobResources
    tensorboard_args: tuple[str, ...]
    idle_timeout: float | None
    notebook_idle_type: str
    work_dir: str | None
    debug: bool
    raw: dict[str, Any] = field(repr=False)


def prepare_job(
    raw_user: dict[str, Any],
    *,
    template: dict[str, Any] | None,
    container_defaults: dict[str, Any],
    default_priority: int,
    has_context: bool,
) -> JobConfig:
    """Defaults, under the template (its unknown keys are for experiments and dropped), under the user's config.

    Raises:
        InvalidConfig: with every violation.
    """
    user = canonical_job(raw_user)
    low = {key: value for key, value in canonical_job(template or {}).items() if key in JOB.fields}
    config = merge_task_container_defaults(JOB.merge(user, low), container_defaults)
    config = {key: value for key, value in config.items() if key in JOB.fields or key in user}
    if "work_dir" in container_defaults and not has_context:
        config = {"work_dir": container_defaults["work_dir"], **config}
    filled = checked(JOB, config, "invalid job configuration: config is invalid")
    if has_context and filled["work_dir"] is not None:
        raise InvalidArgument("work_dir and a context directory exclude each other; give one of them")
    if filled["resources"]["priority"] is None:
        filled["resources"]["priority"] = default_priority
    return job_from_active(filled)


def job_from_active(raw: dict[str, Any]) -> JobConfig:
    """Typed data from a stored config."""
    resources = {key: value for key, value in raw["resources"].items() if key != "devices"}
    idle = raw["idle_timeout"]
    return JobConfig(
        description=raw["description"],
        entrypoint=tuple(raw["entrypoint"]),
        environment=parse_environment(raw["environment"]),
        bind_mounts=parse_bind_mounts(raw["bind_mounts"]),
        resources=JobResources(**resources, devices=tuple(DeviceMount(**d) for d in raw["resources"]["devices"])),
        tensorboard_args=tuple(raw["tensorboard_args"]),
        idle_timeout=None if idle is None else parse_duration(idle),
        notebook_idle_type=raw["notebook_idle_type"],
        work_dir=raw["work_dir"],
        debug=raw["debug"],
        raw=raw,
    )


def canonical_job(raw: dict[str, Any]) -> dict[str, Any]:
    rewrites = {"environment": canonical_environment, "resources": canonical_resources}
    stripped: dict[str, Any] = JOB.strip(raw)
    return {key: rewrites[key](value) if key in rewrites else value for key, value in stripped.items()}


class _GoDuration(Node):
    def check(self, value: Any, at: str, report: Report) -> None:
        try:
            parse_duration(value)
        except InvalidArgument as error:
            report.add(at, error.message)


def _slots_within_cap(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    slots, cap = value.get("slots", 1), value.get("max_slots")
    if cap is not None and slots > cap:
        yield "", f"slots={slots} exceeds max_slots={cap}"


_RESOURCES = Object(
    {
        "slots": Field(Integer(0, INT32_MAX), default=1),
        "max_slots": Field(Integer(0, INT32_MAX), default=None),
        "weight": Field(Number(above=0), default=1),
        "priority": Field(Integer(*PRIORITY_RANGE), default=None),
        "resource_pool": Field(Text(), default=""),
        "shm_size": Field(SIZE, default=None),
        "devices": Field(DEVICES, default=[]),
        "is_single_node": Field(MustBeNull(), legacy=True),  # these jobs always run on one node
    },
    rules=(_slots_within_cap,),
)
_IDLE_TYPES = ("kernels_or_terminals", "kernel_connections", "activity")

JOB = Object(
    {
        "description": Field(Text(), default=None),
        "entrypoint": Field(ListOf(Text(), nonempty=True), default=[]),
        "environment": Field(ENVIRONMENT, default={}),
        "bind_mounts": Field(BIND_MOUNTS, default=[]),
        "resources": Field(_RESOURCES, default={}),
        "tensorboard_args": Field(ListOf(Text()), default=[]),
        "idle_timeout": Field(_GoDuration(), default=None),
        "notebook_idle_type": Field(Text(choices=_IDLE_TYPES), default="kernels_or_terminals"),
        "work_dir": Field(Text(), default=None),
        "debug": Field(Boolean(), default=False),
        "slurm": Field(SLURM, default={}),
        "pbs": Field(PBS, default={}),
    }
)
