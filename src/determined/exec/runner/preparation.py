"""Preparation before the entrypoint: spec, context directory, info files, bind mounts, interpreter, storage probe."""

import base64
import json
import logging
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from determined import constants
from determined.environments.interpreter import Interpreter
from determined.errors import Conflict, FailedPrecondition, Unavailable
from determined.exec.master_link import MasterLink
from determined.exec.runner import environment, in_container, interpreter, private_tmp, service
from determined.exec.runner.log_sink import LogSink
from determined.exec.runner.master_retry import persistently
from determined.exec.runner.private_tmp import TaskTmp
from determined.exec.runner.task_paths import needed_paths
from determined.rundir import context
from determined.rundir.layout import RunDir
from determined.wire.codec import from_json
from determined.wire.context import GetTaskContextDirectoryResponse
from determined.wire.report import BindMount, LaunchFile, TaskSpec

logger = logging.getLogger(__name__)

_GPU_QUERY_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Prepared:
    spec: TaskSpec
    workdir: Path
    variables: dict[str, str]
    tmp: TaskTmp | None = None  # None in a container, which has a /tmp of its own
    python: str | None = None  # the interpreter
    is_hooked: bool = False  # hooks have run, and these variables are as they left them


def prepare(run_dir: RunDir, link: MasterLink, sink: LogSink) -> Prepared:
    """Fetch and lay out everything. Raises a DeterminedError that says what is wrong with this task."""

    def warn(text: str) -> None:
        sink.say("WARNING", text)

    sink.phase("PULLING")
    launch = link.launch
    spec = launch.spec or from_json(persistently(link.spec), TaskSpec)
    if spec.trial_id is not None and launch.rank == 0:
        where = f"on {launch.node_id}, slots {launch.slot_ids}"
        sink.say("INFO", f"New trial runner: run {spec.trial_run_id} of trial {spec.trial_id} {where}")
    if spec.shown_config is not None:
        sink.say("INFO", spec.shown_config, prefix=constants.CONFIG_LINE_PREFIX)  # log policies know it by its prefix
    if spec.is_first_run:
        for text in spec.warnings:
            warn(text)
    workdir = _fetch_context(spec, run_dir, link)
    chosen = _interpreter(spec, run_dir, link, sink)
    sink.phase("STARTING")
    for mount in in_container.linked(spec.bind_mounts) if in_container.is_inside(launch) else spec.bind_mounts:
        _bind(mount, workdir, warn)
    _write_info(launch, spec, run_dir)
    variables = environment.build(launch, spec, run_dir, interpreter.install(chosen, run_dir), workdir)
    if launch.rank == 0:
        variables |= service.provide(spec, run_dir)
    for name in environment.drop_oversized(variables):
        warn(f"the value of {name} is too long for an environment variable; read it with det.get_cluster_info()")
    return Prepared(spec, workdir, variables, _tmp(spec, launch, run_dir, chosen, variables), chosen.path)


def meet(spec: TaskSpec, link: MasterLink, run_dir: RunDir) -> dict[str, str]:
    """Wait until every runner of the allocation has come this far; the variables that tell of the others."""
    addresses, rank, slots = _rendezvous(link) if spec.address is None else ([spec.address], 0, spec.slot_counts)
    content = {"container_addrs": addresses, "container_rank": rank, "container_slot_counts": slots}
    _write(run_dir.info / "rendezvous.json", content)
    return {
        "DET_CONTAINER_ADDRS": json.dumps(addresses),
        "DET_CONTAINER_RANK": str(rank),
        "DET_CONTAINER_SLOT_COUNTS": json.dumps(slots),
        constants.ENV_CHIEF_IP: addresses[0],
    }


def probe_storage(prepared: Prepared, warn: Callable[[str], None]) -> None:
    """Write, read and delete a file where checkpoints will go: a training that cannot save should not begin.

    Raises:
        FailedPrecondition: it certainly cannot. Where that is not certain, it is warned of.
    """
    storage = (prepared.spec.config or {}).get("checkpoint_storage")
    if not storage:
        return
    from determined.exec.runner import storage_check

    trouble = storage_check.find_trouble(storage, prepared.variables, prepared.workdir)
    if trouble is None:
        return
    if not trouble.is_certain_for(prepared.spec.entrypoint, is_hooked=prepared.is_hooked):
        return warn(f"checkpoint storage is not probed: {trouble.reason}; training starts unchecked")
    raise FailedPrecondition(f"checkpoint storage does not work: {trouble.reason}{trouble.remedy}")


def _fetch_context(spec: TaskSpec, run_dir: RunDir, link: MasterLink) -> Path:
    tgz = link.launch.context
    if tgz is None:
        answer = from_json(persistently(lambda: link.context(spec.task_id)), GetTaskContextDirectoryResponse)
        tgz = base64.b64decode(answer.b64_tgz)
    for own in (run_dir.workdir, run_dir.model):
        # A runner that died while unpacking left half a directory.
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir(mode=0o700, parents=True)
    workdir = run_dir.workdir
    if spec.work_dir:
        workdir = Path(spec.work_dir)
        if not workdir.is_dir():
            raise FailedPrecondition(f"work_dir {workdir} is not a directory on this node; create it or leave it out")
    context.unpack(tgz, run_dir.model)
    context.unpack(tgz, workdir)
    return workdir


def _interpreter(spec: TaskSpec, run_dir: RunDir, link: MasterLink, sink: LogSink) -> Interpreter:
    def warn(text: str) -> None:
        sink.say("WARNING", text)

    asked = environment.user_value(spec, constants.ENV_PYTHON_EXECUTABLE)
    if spec.python is None:
        named = (asked, f"named by {constants.ENV_PYTHON_EXECUTABLE}")
        return interpreter.choose([named, _second_choice(spec, link.launch)], sink.say)
    if asked:
        warn(f"{constants.ENV_PYTHON_EXECUTABLE} is not used: environment.python gives this task a Python of its own")
    # Here, because most tasks have no environment of their own and need not wait for what it imports.
    from determined.exec.runner import packages

    provided = packages.provide(spec.python, spec, run_dir, link, sink)
    sink.say("INFO", interpreter.describe(provided, "made for environment.python"))
    return provided


def _tmp(
    spec: TaskSpec, launch: LaunchFile, run_dir: RunDir, chosen: Interpreter, variables: dict[str, str]
) -> TaskTmp | None:
    if in_container.is_inside(launch):
        return None
    try:
        own = private_tmp.provide(run_dir, environment.temporary_root())
        needed = needed_paths(launch, spec, run_dir, chosen, variables)
        return private_tmp.plan(own, needed, spec.bind_mounts, shared=spec.shared_tmp)
    except OSError as e:
        raise FailedPrecondition(f"no temporary directory for this task: {e}; free space or correct its owner") from e


def _second_choice(spec: TaskSpec, launch: LaunchFile) -> tuple[str | None, str]:
    """Return the submitter's Python; for a task with an image, the image's."""
    if in_container.is_inside(launch):
        return in_container.python_of_image(environment.inherited(whole=True)["PATH"]), "the python3 of the image"
    return spec.submitter_python, "the environment that was active at submission"


def _rendezvous(link: MasterLink) -> tuple[list[str], int, list[int]]:
    """Return (addresses, rank, slots of each)."""
    from determined.wire.allocation import AllocationRendezvousInfoResponse

    # The call of a runner before us on this directory may not have ended yet.
    answer = persistently(link.rendezvous, (Unavailable, Conflict))
    info = from_json(answer, AllocationRendezvousInfoResponse).rendezvous_info
    return info.addresses, info.rank, info.slots


def _bind(mount: BindMount, workdir: Path, warn: Callable[[str], None]) -> None:
    """Bind a mount without a container: a relative target becomes a link; absolute ones in /tmp are mounted later."""
    target = Path(mount.container_path)
    is_for_tmp = private_tmp.is_meant_for_tmp(mount)
    if (is_for_tmp or not target.is_absolute()) and not Path(mount.host_path).exists():
        raise FailedPrecondition(f"bind mount: {mount.host_path} does not exist on this node")
    if target.is_absolute():
        if target != Path(mount.host_path) and not is_for_tmp:
            warn(not_mounted(mount))
        return
    link = workdir / target
    if ".." in target.parts or link.exists() or link.is_symlink():
        warn(f"bind mount {mount.host_path} -> {target} is left out: the target exists or leaves the work directory")
        return
    if mount.read_only:
        warn(f"bind mount {target}: read_only is not enforced without a container")
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(mount.host_path)


def not_mounted(mount: BindMount) -> str:
    place = mount.host_path
    return f"bind mount {place} -> {mount.container_path}: no container here; use {place} in your code"


def _write_info(launch: LaunchFile, spec: TaskSpec, run_dir: RunDir) -> None:
    """Write the files that determined._info reads (docs/architecture/task_environment.md)."""
    cluster = {
        "master_url": launch.master_url,
        "cluster_id": spec.cluster_id,
        "agent_id": launch.node_id,
        "slot_ids": launch.slot_ids,
        "task_id": spec.task_id,
        "allocation_id": launch.allocation_id,
        "session_token": launch.token,
        "task_type": spec.task_type,
        "master_cert_name": launch.master_cert_name,
        "master_cert_file": launch.master_cert_file,
        "latest_checkpoint": spec.latest_checkpoint,
    }
    _write(run_dir.info / "cluster.json", cluster)
    _write(run_dir.info / "resources.json", {"gpu_uuids": _gpu_uuids(launch)})
    if spec.trial_id is None:
        return
    trial = {
        "trial_id": spec.trial_id,
        "experiment_id": spec.experiment_id,
        "trial_seed": spec.trial_seed or 0,
        "hparams": spec.hparams or {},
        "config": spec.config or {},
        "steps_completed": spec.steps_completed,
        "trial_run_id": spec.trial_run_id or 0,
        "debug": spec.debug,
        "inter_node_network_interface": spec.network_interface,
    }
    _write(run_dir.info / "trial.json", trial)


def _write(path: Path, content: dict[str, Any]) -> None:
    path.touch(mode=0o600)
    path.write_text(json.dumps(content))


def _gpu_uuids(launch: LaunchFile) -> list[str]:
    if launch.device != "cuda" or not launch.slot_ids:
        return []
    ids = launch.visible_devices or ",".join(map(str, launch.slot_ids))
    query = ["nvidia-smi", f"--id={ids}", "--query-gpu=uuid", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, check=True, timeout=_GPU_QUERY_SECONDS)
    except (OSError, subprocess.SubprocessError) as e:
        logger.warning("cannot list GPUs: %s", e)
        return []
    return done.stdout.split()
