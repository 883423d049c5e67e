"""Messages between a runner and the master: the launch file, the task spec, and journal records.

A runner keeps append-only journals (rundir/journal.py): `logs` (its own) and one per reporting process (`user-<pid>`).
Records of one journal are numbered 1, 2, 3, ... without gaps. The runner posts `ReportBatch` (MessagePack) to
`POST /api/v1/allocations/{allocation_id}/resources/{resource_id}/reports`; the master writes records past its stored
position in one transaction and answers the new positions: exactly once, whatever crashes. Segments of one batch are
applied in the given order. `Exit` is the last record of `logs`, and of the batch with which every other journal ends.
An unmanaged trial has no runner: its client posts such batches to `POST_UNMANAGED_REPORTS`.
"""

from enum import StrEnum
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation, Query


class LogLine(msgspec.Struct, tag="log", array_like=True, kw_only=False):
    """Line of a log, already parsed: rank and level are taken out of the text; no trailing newline."""

    text: str
    time: float  # seconds since the epoch, when it was read
    stdtype: str = "stdout"  # stdout, stderr
    level: str | None = None  # DEBUG INFO WARNING ERROR CRITICAL (TRACE)
    rank: int | None = None
    source: str = "task"


class MetricReport(msgspec.Struct, tag="metric", array_like=True):
    group: str
    steps: int | None
    metrics: dict[str, Any]  # numbers stay numbers: NaN and infinities travel as MessagePack floats
    time: float
    batch_metrics: list[dict[str, Any]] | None = None


class CheckpointReport(msgspec.Struct, tag="checkpoint", array_like=True):
    uuid: str
    steps: int
    metadata: dict[str, Any]
    resources: dict[str, int]
    time: float
    storage_id: int | None = None


class PreemptAck(msgspec.Struct, tag="preempt_ack", array_like=True):
    """The process will exit because it was asked to (or is out of operations); exit 0 then means "restart me later"."""


class Status(msgspec.Struct, tag="status", array_like=True):
    """core.train.set_status."""

    text: str


class Progress(msgspec.Struct, tag="progress", array_like=True):
    """0..1 (late) or units (classic, raw=False)."""

    value: float
    raw: bool = True


class EarlyExit(msgspec.Struct, tag="early_exit", array_like=True):
    reason: str  # EXITED_REASON_INVALID_HP or EXITED_REASON_INIT_INVALID_HP


class Phase(msgspec.Struct, tag="phase", array_like=True):
    """The runner's own progress: PULLING (fetching the context), STARTING (hooks), RUNNING (entrypoint started).

    Of a task with a service also READY (it answers) and WAITING (it has nothing to show yet).
    """

    state: str
    time: float


class ExitCause(StrEnum):
    EXITED = "exited"  # the entrypoint ended by itself; `code` is its status (128+n when a signal ended it)
    PREEMPTED = "preempted"  # it did not watch for preemption and the runner ended it for a pause
    KILLED = "killed"  # the runner ended it because it was told to kill
    FAILED = "failed"  # the runner could not get as far as the entrypoint (hook, context, storage); code 1
    UNUSABLE = "unusable"  # what its config asks of its environment cannot be had: another try would fail as well
    LOST = "lost"  # a later runner found the journal of one that had vanished
    NOT_STARTED = "not_started"  # its engine could not start it; only the master writes this


class Exit(msgspec.Struct, tag="exit", array_like=True):
    cause: ExitCause
    code: int
    message: str
    time: float
    label: str = ""  # for the trial: what the runner has recognised as the cause (out of memory)


class Alert(msgspec.Struct, tag="alert", array_like=True):
    """core_context.alert: an event for the webhooks that the experiment's config names."""

    title: str
    description: str
    level: str  # DEBUG, INFO, WARNING, ERROR


class Missing(msgspec.Struct, tag="missing", array_like=True):
    """Stands for a record that neither side has any more (the master's database is a restored one); does nothing."""


Record = (
    LogLine
    | MetricReport
    | CheckpointReport
    | PreemptAck
    | Status
    | Progress
    | EarlyExit
    | Phase
    | Exit
    | Alert
    | Missing
)


class Segment(msgspec.Struct, array_like=True):
    source: str
    first: int  # number of the first record
    records: list[Record]


class ReportBatch(msgspec.Struct, array_like=True):
    """`sent`: by the clock of the host that the records come from."""

    segments: list[Segment]
    sent: float | None = None


class ReportAnswer(Wire):
    """`positions`: journal -> last record written. `ended`: the allocation is over; drain and leave.

    `refused`: checkpoints of this batch that are not taken, and why.
    """

    positions: dict[str, int]
    ended: bool = False
    refused: dict[str, str] = {}


class LaunchFile(Wire):
    """`launch.json` (0600) in the run directory: what an engine hands to the runner. Secrets are never in argv."""

    master_url: str
    token: str
    allocation_id: str
    resource_id: str
    container_id: str
    node_id: str
    rank: int
    slot_ids: list[int]
    device: str = "cpu"
    resources_type: str = "process"
    master_cert_file: str | None = None
    master_cert_name: str | None = None
    visible_devices: str | None = None  # what the engine's own scheduler lets this task see; None: `slot_ids`
    tied_to: int | None = None  # the process that started the runner, which ends with it
    spec: "TaskSpec | None" = None  # what is to run; None: the runner asks the master
    context: bytes | None = None  # the packed context directory; None: the runner asks the master


class BindMount(Wire):
    host_path: str
    container_path: str
    read_only: bool = False


class PythonPackages(Wire):
    """`environment.python` of a config, and the locks it was resolved to, by platform (cache_directory.py)."""

    requirements: str | list[str] | None = None
    lock: str | None = None
    version: str | None = None
    locks: dict[str, str] = {}


class Service(Wire):
    """Port or socket that the proxy may reach on the node of rank 0 of a task."""

    id: str = ""  # "": the task's default service; else the port as text
    port: int = 0  # on 127.0.0.1; 0: the task's own Unix socket
    tcp: bool = False  # raw bytes instead of HTTP
    unauthenticated: bool = False


class TaskSpec(Wire):
    """Task to run: `GET /api/v1/allocations/{allocation_id}/resources/{resource_id}/spec` (task token)."""

    task_id: str
    task_type: str  # TRIAL, COMMAND, CHECKPOINT_GC, ...
    cluster_id: str
    master_id: str
    username: str
    user_token: str | None = None
    entrypoint: str | list[str] = ""
    environment: list[str] = []  # "NAME=VALUE" or "NAME", appended last, last wins
    startup_hook: str | None = None  # text of task_container_defaults.startup_hook
    bind_mounts: list[BindMount] = []
    submitter_python: str | None = None
    slot_counts: list[int] = []  # of every runner of the allocation, by rank
    address: str | None = None  # of a runner that has no peers, and so nobody to wait for
    ports: dict[str, int] = {}  # DTRAIN_SSH_PORT, INTER_TRAIN_PROCESS_COMM_PORT_1, _2, C10D_PORT
    debug: bool = False
    warnings: list[str] = []  # said once at the top of the task log (an image nobody can honour here, ...)
    work_dir: str | None = None
    network_interface: str | None = None
    is_first_run: bool = True  # of this task: what is said once per log is said now
    shared_tmp: bool = False  # it works with the node's /tmp instead of one of its own
    python: PythonPackages | None = None  # an environment of its own, in place of `submitter_python`
    services: list[Service] = []
    settings: dict[str, Any] | None = None  # of the program of the task's kind, secrets included
    # trials only
    trial_id: int | None = None
    experiment_id: int | None = None
    trial_seed: int | None = None
    trial_run_id: int | None = None
    hparams: dict[str, Any] | None = None
    config: dict[str, Any] | None = None  # active experiment config, secrets included
    shown_config: str | None = None  # the same for the log, as JSON without secrets and defaults; in the first run only
    steps_completed: int = 0
    latest_checkpoint: str | None = None
    preemption_timeout: int | None = None

    @property
    def is_trial(self) -> bool:
        return self.task_type == "TRIAL"


class RunnerSignals(Wire):
    """Answer of the runner's long poll `GET .../resources/{resource_id}/signals?preempt=&kill=&timeoutSeconds=`.

    The runner sends what it knows; the master answers as soon as something differs, or after the timeout.
    """

    preempt: bool = False
    kill: bool = False
    peer_failed: bool = False  # why it is killed: another runner of its allocation failed, so there is nothing to save
    ended: bool = False  # stale allocation: end the task now
    stacks: int = 0  # how often all ranks' stacks were asked for
    shell: bool = False  # somebody wants a shell beside the task


class GetRunnerSignals(Query):
    """The long poll of a runner: it says what it knows and hears what is new."""

    preempt: Annotated[bool, Meta(description="The runner knows that it is to save and go.")] = False
    kill: Annotated[bool, Meta(description="The runner knows that it is to be killed.")] = False
    stacks: Annotated[
        int, Meta(ge=0, le=2**31 - 1, description="How many requests for stacks the runner has answered.")
    ] = 0
    shell: Annotated[bool, Meta(description="The runner knows that a shell is wanted.")] = False
    timeout_seconds: Annotated[
        Annotated[float, Meta(ge=0, le=1e6)] | None, Meta(description="Seconds to wait for news; 0 by default.")
    ] = None


GET_RUNNER_SIGNALS = Operation(
    "GET",
    "/api/v1/allocations/{allocation_id:str}/resources/{resource_id:str}/signals",
    GetRunnerSignals,
    RunnerSignals,
    ours=True,
)
GET_TASK_SPEC = Operation(
    "GET", "/api/v1/allocations/{allocation_id:str}/resources/{resource_id:str}/spec", Nothing, TaskSpec, ours=True
)
POST_UNMANAGED_REPORTS = Operation(
    "POST", "/api/v1/trials/{trial_id:int}/runs/{run_id:int}/reports", ReportBatch, ReportAnswer, ours=True
)
POST_REPORTS = Operation(
    "POST",
    "/api/v1/allocations/{allocation_id:str}/resources/{resource_id:str}/reports",
    ReportBatch,
    ReportAnswer,
    ours=True,
)
