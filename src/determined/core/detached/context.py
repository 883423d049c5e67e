"""Core API context of a trial outside of the cluster."""

import contextlib
import logging
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from determined._info import ClusterInfo
from determined._json import JsonObject
from determined._remove_tree import remove_tree
from determined.core import _environment, _stack_dump
from determined.core._context import Context
from determined.core._distributed import DistributedContext
from determined.core._init import TrialParts
from determined.core._master import Master
from determined.core._modes import PreemptMode, TensorboardMode
from determined.core._offcluster import DummyDistributedContext
from determined.core.detached import directory
from determined.core.detached.directory import DeliveryProcess
from determined.core.detached.ending import EndingWatch, run_end_of
from determined.core.detached.experiment import ExperimentRequest, check, experiment_config, storage_section
from determined.core.detached.output import OutputCopy
from determined.core.detached.registration import Registered, cluster_info, fail, register
from determined.rundir.layout import RunDir

if TYPE_CHECKING:
    from determined.api.session import Session

logger = logging.getLogger("determined.core")


def default_storage() -> Path:
    """Return where checkpoints go that nobody has chosen a place for."""
    return _environment.user_data_dir() / "checkpoints"


def begin(
    session: "Session",
    request: ExperimentRequest,
    *,
    distributed: DistributedContext | None,
    checkpoint_storage: str | JsonObject | None,
    preempt_mode: PreemptMode,
    tensorboard_mode: TensorboardMode,
) -> Context:
    """Register a trial, or take it up again, and return its context. Collective: the chief registers for all.

    Raises:
        ValueError: external ids or a storage that make no sense.
        DeterminedError: what the master says of it.
        RuntimeError: on another rank than the chief, where that has failed.
    """
    check(request)
    dist = distributed or DummyDistributedContext()
    section = storage_section(checkpoint_storage, default_storage())
    registered = _registered(session, request, section, dist)
    return context(
        session,
        cluster_info(session, registered),
        distributed=dist,
        checkpoint_storage=section,
        preempt_mode=preempt_mode,
        tensorboard_mode=tensorboard_mode,
    )


def context(
    session: "Session",
    info: ClusterInfo,
    *,
    distributed: DistributedContext | None,
    checkpoint_storage: JsonObject,
    preempt_mode: PreemptMode,
    tensorboard_mode: TensorboardMode,
) -> Context:
    """Return the context of a trial that has been started. Where there can be none the trial is set to ERROR."""
    dist = distributed or DummyDistributedContext()
    _stack_dump.install()
    trial = info.trial
    with contextlib.ExitStack() as on_failure:
        if dist.rank == 0:
            on_failure.callback(fail, session, trial.trial_id)
        run_dir = directory.create(session, trial.trial_id, trial._trial_run_id, is_chief=dist.rank == 0)
        on_failure.callback(remove_tree, str(run_dir.path))
        parts = TrialParts(info, dist, None, checkpoint_storage, run_dir=run_dir, master=Master(info, session=session))
        made = parts.context(preempt_mode, tensorboard_mode, TrialDelivery(run_dir, dist))
        on_failure.pop_all()
    return made


class TrialDelivery:
    """Delivery of the reports, the output and the end of this process, from the context's start to its close."""

    def __init__(self, run_dir: RunDir, dist: DistributedContext) -> None:
        self._process = DeliveryProcess(run_dir)
        self._output = OutputCopy(run_dir, dist.rank if dist.size > 1 else None)
        self._ending = EndingWatch()

    def start(self) -> None:
        self._process.start()
        self._output.start()
        self._ending.start()

    def close(self, error: BaseException | None) -> None:
        self._ending.stop()
        if error is not None and error is not self._ending.error and not isinstance(error, SystemExit):
            # Python prints it when the script has left the context: too late for the log.
            self._output.add("".join(traceback.format_exception(error)))
        self._output.close()
        if not self._process.finish(run_end_of(error or self._ending.error)):
            logger.warning("%s", self._process.problem)


def _registered(
    session: "Session", request: ExperimentRequest, section: JsonObject, dist: DistributedContext
) -> Registered:
    """Register on the chief; its peers get the ids, or hear why there are none."""
    if dist.size == 1:
        return register(session, request, experiment_config(request, section))
    if dist.rank != 0:
        answer = dist.broadcast(None)
        if "failure" in answer:
            raise RuntimeError(f"rank 0 could not register the trial: {answer['failure']}")
        return Registered(**answer)
    try:
        registered = register(session, request, experiment_config(request, section))
    except BaseException as e:
        dist.broadcast({"failure": f"{type(e).__name__}: {e}"})
        raise
    dist.broadcast(asdict(registered))
    return registered
