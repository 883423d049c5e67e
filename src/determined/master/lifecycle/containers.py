"""Container of a task, read from its config, for engines that run one."""

from collections.abc import Iterable

from sqlalchemy import Connection

from determined.config import CheckpointStorage, ExperimentConfig
from determined.config.container_defaults import TaskContainerDefaults
from determined.config.environment import BindMount, Environment
from determined.config.job import GenericTaskConfig, JobConfig
from determined.config.resources import DeviceMount
from determined.config.task_kinds import KINDS
from determined.engines.model import Container, DeviceNode, Mount
from determined.master.config import MasterConfig
from determined.master.db.queries import submitted_task as submitted_tasks
from determined.master.db.queries import task as tasks
from determined.master.db.queries.runner import AliveRunner
from determined.master.db.rows.allocations import Allocation
from determined.master.lifecycle import task_storage
from determined.master.lifecycle.pools import container_defaults
from determined.master.lifecycle.task_config import config_of

_RUNTIME_VARIABLES = "NVIDIA_"  # read by the container runtime itself, before anything runs inside


def runs_containers(config: MasterConfig, engine: str) -> bool:
    """Return whether tasks of this engine (its name) run in containers."""
    configured = config.engine(engine)
    return configured is not None and configured.manager.runs_containers


def container_of(
    conn: Connection, runner: AliveRunner, allocation: Allocation, config: MasterConfig
) -> Container | None:
    """Return the container; None where the runner's engine runs no containers. The config has the defaults of cluster
    and pool in it already; a task that is no trial has those alone.
    """
    if not runs_containers(config, runner.engine):
        return None
    defaults = container_defaults(config, allocation.pool)
    if allocation.trial_id is None:
        submitted = submitted_tasks.find(conn, allocation.task_id)
        if submitted is None:
            return of_defaults(runner.device, defaults)
        kind = KINDS[tasks.get(conn, allocation.task_id).type]
        storages = task_storage.mounts_of(task_storage.sections_of(conn, config, kind.name, submitted))
        return of_submitted_task(config_of(kind, submitted.config), runner.device, defaults, storages)
    asked = ExperimentConfig.load(tasks.trial_details(conn, allocation.trial_id).config)
    return of_experiment(asked, runner.device, defaults)


def of_experiment(config: ExperimentConfig, device: str, defaults: TaskContainerDefaults) -> Container:
    """`device`: of its slots; `defaults`: task_container_defaults of its pool, for what experiments have no key for."""
    return _container(
        config.environment,
        device,
        defaults,
        mounts=tuple(map(_mount, config.bind_mounts)),
        shared_fs=_storage_mount(config.checkpoint_storage),
        shm_bytes=config.resources.shm_size,
        devices=config.resources.devices,
        ports=_ports(config.environment),
    )


def of_submitted_task(
    config: JobConfig | GenericTaskConfig,
    device: str,
    defaults: TaskContainerDefaults,
    storages: Iterable[tuple[str, str]] = (),
) -> Container:
    """`storages`: directories that its program reads or writes, and their mount propagation."""
    mounted = (Mount(path, path, propagation=propagation) for path, propagation in storages)
    return _container(
        config.environment,
        device,
        defaults,
        mounts=(*map(_mount, config.bind_mounts), *mounted),
        shm_bytes=config.resources.shm_size,
        devices=config.resources.devices,
        ports=_ports(config.environment),
    )


def of_defaults(device: str, defaults: TaskContainerDefaults) -> Container:
    """Return the container of a task without a config of its own."""
    return _container(
        defaults,
        device,
        defaults,
        mounts=tuple(map(_mount, defaults.bind_mounts)),
        shm_bytes=defaults.shm_size_bytes,
        devices=defaults.devices,
    )


def _container(
    environment: Environment | TaskContainerDefaults,
    device: str,
    defaults: TaskContainerDefaults,
    *,
    mounts: tuple[Mount, ...],
    shm_bytes: int | None,
    devices: Iterable[DeviceMount],
    shared_fs: Mount | None = None,
    ports: tuple[int, ...] = (),
) -> Container:
    return Container(
        image=environment.image.of(device),
        force_pull=environment.force_pull_image,
        registry_auth=environment.registry_auth.raw if environment.registry_auth else None,
        add_capabilities=environment.add_capabilities,
        drop_capabilities=environment.drop_capabilities,
        mounts=mounts,
        shared_fs=shared_fs,
        shm_bytes=shm_bytes,
        devices=tuple(map(_device, devices)),
        ports=ports,
        network=defaults.network_mode,
        variables=_of_runtime(environment.environment_variables.of(device)),
    )


def _mount(mount: BindMount) -> Mount:
    return Mount(mount.host_path, mount.container_path, mount.read_only, mount.propagation)


def _device(device: DeviceMount) -> DeviceNode:
    return DeviceNode(device.host_path, device.container_path, device.mode)


def _of_runtime(variables: Iterable[str]) -> tuple[str, ...]:
    return tuple(one for one in variables if one.startswith(_RUNTIME_VARIABLES))


def _storage_mount(storage: CheckpointStorage) -> Mount | None:
    if storage.container_mount is None:
        return None
    path, propagation = storage.container_mount
    return Mount(path, path, propagation=propagation)


def _ports(environment: Environment) -> tuple[int, ...]:
    return tuple(sorted({*environment.ports.values(), *(one.proxy_port for one in environment.proxy_ports)}))
