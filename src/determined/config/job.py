"""Configs of tasks that are not trials: commands, notebooks, shells, TensorBoards, generic tasks."""

from collections.abc import Iterator

from determined._json import JsonObject
from determined.config.container_defaults import merge_task_container_defaults
from determined.config.engine_sections import task_fields
from determined.config.environment import BIND_MOUNTS, BindMount, Environment
from determined.config.resources import CONTAINERS, DEVICES, INT32_MAX, PRIORITY_RANGE, DeviceMount
from determined.config.sections import Pbs
from determined.errors import InvalidArgument
from determined.schema.layers import checked
from determined.schema.lists import ListOf
from determined.schema.node import Boolean, Integer, MustBeNull, Number, Text
from determined.schema.quantity_nodes import Duration, Size
from determined.schema.section import Section, field

_SHELL_SERVERS = ("asyncssh", "openssh")
_IDLE_TYPES = ("kernels_or_terminals", "kernel_connections", "activity")


def _slots_within_cap(value: JsonObject) -> Iterator[tuple[str, str]]:
    slots, cap = value.get("slots", 1), value.get("max_slots")
    if cap is not None and slots > cap:
        yield "", f"slots={slots} exceeds max_slots={cap}"


class _TaskResources(Section):
    """The resources of a task."""

    slots: int = field(Integer(0, INT32_MAX), "GPUs (or CPU slots) of the task.", default=1)
    max_slots: int | None = field(Integer(0, INT32_MAX), "Cap on the slots.", default=None)
    weight: float = field(Number(above=0), "Share under the fair-share scheduler.", default=1)
    priority: int | None = field(
        Integer(*PRIORITY_RANGE), "1 is the most urgent. Default: the pool's `default_priority`.", default=None
    )
    resource_pool: str = field(Text(), "Default: the workspace's or the cluster's default pool.", default="")
    shm_size: int | None = field(Size(), "A size such as `4g`.", default=None, engines=CONTAINERS)
    devices: tuple[DeviceMount, ...] = field(DEVICES, "Device files.", default=[], engines=CONTAINERS)


class JobResources(_TaskResources, rules=(_slots_within_cap,)):
    """The resources of a command, notebook, shell or TensorBoard, which always run on one node."""

    is_single_node: None = field(MustBeNull(), "", default=None, fill=False, legacy=True)


class GenericResources(_TaskResources, rules=(_slots_within_cap,)):
    """The resources of a generic task."""

    is_single_node: bool = field(Boolean(), "Whether the task must fit on one node.", default=True)


class TaskConfig(Section, added=task_fields()):
    """The fields that every kind of task has."""

    entrypoint: tuple[str, ...] = field(
        ListOf(Text(), nonempty=True), "The command: its arguments. Notebooks and others have their own.", default=[]
    )
    environment: Environment = field(Environment, "What surrounds the task.", default={})
    bind_mounts: tuple[BindMount, ...] = field(BIND_MOUNTS, "As in experiments.", default=[])
    work_dir: str | None = field(Text(), "Working directory, unless a context directory is sent.", default=None)
    debug: bool = field(Boolean(), "More detail in the task log.", default=False)
    pbs: Pbs = field(Pbs, "Settings of a PBS job.", default={}, engines=())


class ShellSection(Section):
    """The server of a shell."""

    server: str = field(
        Text(choices=_SHELL_SERVERS),
        "`asyncssh` needs no system package; `openssh` runs the node's own `sshd`.",
        default="asyncssh",
    )


class JobConfig(TaskConfig):
    """The config of a command, notebook, shell or TensorBoard."""

    description: str | None = field(Text(), "Shown in lists. Default: the kind and three random words.", default=None)
    resources: JobResources = field(JobResources, "What the task needs.", default={})
    tensorboard_args: tuple[str, ...] = field(ListOf(Text()), "More arguments of TensorBoard.", default=[])
    idle_timeout: float | None = field(
        Duration(bare_numbers=False), "End the task after so long without use, such as `1h30m`.", default=None
    )
    notebook_idle_type: str = field(
        Text(choices=_IDLE_TYPES), "What counts as use of a notebook.", default="kernels_or_terminals"
    )
    shell: ShellSection = field(ShellSection, "Settings of a shell.", default={}, since="0.39")


class GenericTaskConfig(TaskConfig):
    """The config of a generic task."""

    resources: GenericResources = field(GenericResources, "What the task needs.", default={})
    preemption_timeout: int | None = field(
        Integer(0, INT32_MAX), "Seconds a preempted task may take to save and leave before it is killed.", default=None
    )


def prepare_job(
    raw_user: JsonObject,
    *,
    template: JsonObject | None,
    container_defaults: JsonObject,
    default_priority: int,
    has_context: bool,
) -> JobConfig:
    """Lay the user's config over the template (config/templates.py makes it of a stored one), over the defaults.

    Raises:
        InvalidConfig: with every violation.
    """
    low = JobConfig.canonical(template or {})
    return JobConfig.load(_prepare(JobConfig, raw_user, low, container_defaults, default_priority, has_context))


def prepare_generic_task(
    raw_user: JsonObject,
    *,
    container_defaults: JsonObject,
    default_priority: int,
    has_context: bool,
    template: JsonObject | None = None,
) -> GenericTaskConfig:
    """Lay the config of a generic task over the template, over the defaults. Raises InvalidConfig."""
    low = GenericTaskConfig.canonical(template or {})
    filled = _prepare(GenericTaskConfig, raw_user, low, container_defaults, default_priority, has_context)
    return GenericTaskConfig.load(filled)


def _prepare(
    kind: type[JobConfig] | type[GenericTaskConfig],
    raw_user: JsonObject,
    template: JsonObject,
    container_defaults: JsonObject,
    default_priority: int,
    has_context: bool,
) -> JsonObject:
    known = kind.schema.fields
    user = kind.canonical(raw_user)
    low = {key: value for key, value in template.items() if key in known}
    if has_context:
        low.pop("work_dir", None)  # the files lie in a directory of their own, as under the defaults
    config = merge_task_container_defaults(kind.merge(user, low), container_defaults)
    config = {key: value for key, value in config.items() if key in known or key in user}
    if "work_dir" in container_defaults and not has_context:
        config = {"work_dir": container_defaults["work_dir"], **config}
    filled = checked(kind, config, "invalid job configuration: config is invalid")
    if has_context and filled["work_dir"] is not None:
        raise InvalidArgument("cannot set work_dir and context directory at the same time; give one of them")
    if filled["resources"]["priority"] is None:
        filled["resources"]["priority"] = default_priority
    return filled
