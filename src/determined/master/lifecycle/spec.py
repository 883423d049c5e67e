"""Task spec: what a runner is told to run, built from the rows each time it is asked for."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import msgspec
from sqlalchemy import Connection

from determined.config import ExperimentConfig, mask_secrets, parse_yaml
from determined.config.container_defaults import TaskContainerDefaults
from determined.config.display import without_defaults
from determined.config.environment import BindMount as ConfiguredMount
from determined.config.experiment_schema import EXPERIMENT
from determined.config.python_environment import PythonEnvironment
from determined.config.task_kinds import KINDS, TaskKind
from determined.errors import InvalidConfig
from determined.master.auth import allocation_token
from determined.master.config import MasterConfig
from determined.master.context import ClusterIdentity
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import environment_lock as environment_locks
from determined.master.db.queries import runner as runners
from determined.master.db.queries import submitted_task as submitted_tasks
from determined.master.db.queries import task as tasks
from determined.master.db.queries import trial as trials
from determined.master.db.queries.task import TrialDetails
from determined.master.db.rows.allocations import Allocation, Runner
from determined.master.db.rows.submitted_tasks import SubmittedTask
from determined.master.lifecycle import task_services
from determined.master.lifecycle.pools import container_defaults, engine_traits
from determined.master.lifecycle.task_config import config_class, config_of
from determined.schema.engine_traits import NO_TRAITS, EngineTraits
from determined.schema.unused import unused_remarks
from determined.wire.report import BindMount, PythonPackages, TaskSpec

_CONFIGS = 32  # whose texts are kept: the trials of an experiment, which come one after the other, share theirs


@dataclass(frozen=True, slots=True)
class Cluster:
    """Facts that every spec states of the master and the pool.

    `token` is the allocation's own: it ends with it, and reaches what the task works on. `owner_token` acts for the
    owner of a task that a person works in, without the owner's administration; it ends with the allocation too.
    """

    cluster_id: str
    master_id: str
    token: str = field(repr=False)
    defaults: TaskContainerDefaults = field(default_factory=TaskContainerDefaults)  # of the pool
    engine: EngineTraits = NO_TRAITS  # of the pool: they decide what of a config has an effect
    owner_token: str = field(default="", repr=False)

    @classmethod
    def of(cls, config: MasterConfig, identity: ClusterIdentity, allocation_id: str, pool: str) -> "Cluster":
        """Return what the specs of an allocation in this pool state."""
        return cls(
            cluster_id=identity.cluster_id,
            master_id=identity.master_id,
            token=allocation_token.mint(identity.secret, allocation_id),
            owner_token=allocation_token.mint_for_owner(identity.secret, allocation_id),
            defaults=container_defaults(config, pool),
            engine=engine_traits(config, pool),
        )


def build(conn: Connection, resource_id: str, username: str, cluster: Cluster) -> TaskSpec:
    runner = runners.get(conn, resource_id)
    allocation = allocations.get(conn, runner.allocation_id)
    group = runners.of_allocation(conn, allocation.id)
    spec = TaskSpec(
        task_id=allocation.task_id,
        task_type=tasks.get(conn, allocation.task_id).type,
        cluster_id=cluster.cluster_id,
        master_id=cluster.master_id,
        username=username,
        user_token=cluster.token,
        environment=_port_ranges(cluster.defaults),
        startup_hook=cluster.defaults.startup_hook,
        network_interface=cluster.defaults.dtrain_network_interface,
        slot_counts=_slot_counts(group),
        address=(group[0].address or "127.0.0.1") if len(group) == 1 else None,
        ports=allocation.ports or {},
    )
    submitted = submitted_tasks.find(conn, allocation.task_id)
    if allocation.trial_id is not None:
        _add_trial(conn, spec, allocation, allocation.trial_id, runner, cluster)
    elif submitted is not None:
        _add_submitted(spec, submitted, allocation, runner.device, cluster)
    else:
        _add_defaults(spec, runner.device, cluster.defaults)
    return spec


def _add_submitted(spec: TaskSpec, task: SubmittedTask, allocation: Allocation, device: str, cluster: Cluster) -> None:
    kind = KINDS[spec.task_type]
    config = config_of(kind, task.config)
    spec.entrypoint = _argv(kind, config.entrypoint)
    spec.environment += config.environment.environment_variables.of(device)
    spec.bind_mounts = [_bind_mount(one) for one in config.bind_mounts]
    spec.work_dir = config.work_dir
    spec.submitter_python = task.submitter_python
    spec.python = _requirements(config.environment.python, {})
    spec.debug = config.debug
    spec.shared_tmp = config.environment.shared_tmp
    spec.warnings = unused_remarks(config_class(kind).schema, task.submitted_config, cluster.engine)
    spec.is_first_run = allocation.run_id == 1
    spec.services = task_services.of_kind(kind) + task_services.of_environment(config.environment)
    spec.user_token = cluster.owner_token if kind.acts_for_owner else cluster.token


def _argv(kind: TaskKind, entrypoint: Sequence[str]) -> list[str]:
    """Return what a submitted task runs: its kind's own program, or the user's; one word is a line for a shell."""
    if kind.program:
        # -P: a file of the context directory must not take the place of a module of ours.
        return ["python3", "-P", "-m", kind.program]
    return ["sh", "-c", *entrypoint] if len(entrypoint) == 1 else list(entrypoint)


def _add_defaults(spec: TaskSpec, device: str, defaults: TaskContainerDefaults) -> None:
    """Add the defaults to a task without a config; the config of a trial has them in it."""
    spec.environment += defaults.environment_variables.of(device)
    spec.bind_mounts = [_bind_mount(mount) for mount in defaults.bind_mounts]
    spec.work_dir = defaults.work_dir
    spec.shared_tmp = defaults.shared_tmp


def _add_trial(
    conn: Connection, spec: TaskSpec, allocation: Allocation, trial_id: int, runner: Runner, cluster: Cluster
) -> None:
    trial = tasks.trial_details(conn, trial_id)
    config = ExperimentConfig.load(trial.config)
    spec.entrypoint = config.entrypoint if config.entrypoint is not None else ""
    spec.environment += config.environment.environment_variables.of(runner.device)
    spec.bind_mounts = [_bind_mount(one) for one in config.bind_mounts]
    spec.submitter_python = trial.submitter_python
    spec.python = _packages(conn, trial.experiment_id, config.environment.python)
    spec.debug = config.debug
    spec.shared_tmp = config.environment.shared_tmp
    kinds = tuple(sorted(cluster.engine.kinds.items()))
    spec.warnings = list(_remarks(trial.original_config, cluster.engine.names, kinds))
    spec.trial_id = trial.id
    spec.experiment_id = trial.experiment_id
    spec.trial_seed = trial.seed
    spec.trial_run_id = allocation.run_id
    spec.hparams = trial.hparams
    spec.config = trial.config
    spec.is_first_run = allocation.run_id == allocations.first_run(conn, allocation.task_id)
    if spec.is_first_run and runner.rank == 0:
        spec.shown_config = _shown(msgspec.json.encode(trial.config))
    spec.preemption_timeout = config.preemption_timeout
    spec.latest_checkpoint, spec.steps_completed = _checkpoint(conn, trial)
    spec.services = task_services.of_environment(config.environment)


def _bind_mount(mount: ConfiguredMount) -> BindMount:
    return BindMount(host_path=mount.host_path, container_path=mount.container_path, read_only=mount.read_only)


def _packages(conn: Connection, experiment_id: int, environment: PythonEnvironment | None) -> PythonPackages | None:
    if environment is None:
        return None
    locks = {row.platform: row.content for row in environment_locks.list_all(conn, experiment_id)}
    return _requirements(environment, locks)


def _requirements(environment: PythonEnvironment | None, locks: dict[str, str]) -> PythonPackages | None:
    if environment is None:
        return None
    requirements = (
        list(environment.requirements) if isinstance(environment.requirements, tuple) else environment.requirements
    )
    return PythonPackages(requirements=requirements, lock=environment.lock, version=environment.version, locks=locks)


def _port_ranges(defaults: TaskContainerDefaults) -> list[str]:
    ranges = {"GLOO_PORT_RANGE": defaults.gloo_port_range, "NCCL_PORT_RANGE": defaults.nccl_port_range}
    return [f"{name}={ports}" for name, ports in ranges.items() if ports]


def _checkpoint(conn: Connection, trial: TrialDetails) -> tuple[str | None, int]:
    """Return its own newest checkpoint; else what it was told to start from, and then its steps count from zero."""
    own = trials.latest_checkpoint(conn, trial.id)
    if own is not None:
        return own.uuid, own.steps_completed
    return trial.warm_start_checkpoint or trial.experiment_checkpoint, 0


@lru_cache(_CONFIGS)
def _remarks(
    original_config: str, engine: frozenset[str], kinds: tuple[tuple[str, tuple[str, ...]], ...]
) -> tuple[str, ...]:
    """Name the submitter's settings that this engine has no use for, instead of dropping them silently."""
    try:
        asked = parse_yaml(original_config)
    except InvalidConfig:
        return ()
    return tuple(unused_remarks(EXPERIMENT, asked, EngineTraits(engine, dict(kinds))))


@lru_cache(_CONFIGS)
def _shown(config: bytes) -> str:
    """Return a config, given as JSON, as the log shows it."""
    return json.dumps(without_defaults(mask_secrets(msgspec.json.decode(config))))


def _slot_counts(group: Sequence[Runner]) -> list[int]:
    return [len(r.slot_ids) for r in group]
