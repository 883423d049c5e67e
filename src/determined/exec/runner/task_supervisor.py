"""Supervisor of one task from its first record to its last: prepare, start, wait, end, report."""

import json
import logging
import os
import select
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from determined.constants import PEER_GRACE_SECONDS
from determined.errors import DeterminedError, EnvironmentUnusable
from determined.exec.master_link import STALE, MasterLink
from determined.exec.runner import command, preparation, process_tree
from determined.exec.runner.exit_status import HINTS, described
from determined.exec.runner.failure_explanation import explain, with_shortage
from determined.exec.runner.hang_detector import HangDetector
from determined.exec.runner.log_sink import LogSink
from determined.exec.runner.memory import KillCount, find_shortage
from determined.exec.runner.orphan_killer import OrphanKiller
from determined.exec.runner.output import OutputPipes
from determined.exec.runner.process import TaskProcess
from determined.exec.runner.stack_report import StackRequests
from determined.exec.runner.task_services import TaskServices
from determined.exec.runner.task_start import TaskStarter
from determined.exec.runner.termination import GRACE_SECONDS, Termination
from determined.rundir import process_identity
from determined.rundir.control import Control
from determined.rundir.failure import Failure, read_failure
from determined.rundir.failure_cause import Cause
from determined.rundir.layout import RunDir
from determined.wire.report import ExitCause, RunnerSignals, TaskSpec

if TYPE_CHECKING:
    from determined.exec.runner.forked.standby import Fork
    from determined.exec.runner.preflight.check import Preflight

logger = logging.getLogger(__name__)

T = TypeVar("T")

FORWARDED = (signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH)
_IGNORES_PREEMPTION = (
    "this script does not watch for preemption (core_context.preempt.should_preempt()): it gets SIGTERM now, and"
    f" SIGKILL {GRACE_SECONDS[ExitCause.PREEMPTED]:g} s later"
)
_STEP_SECONDS = 0.02
_FIRST_QUESTION_SECONDS = 15.0
_SAME_SIGNAL_SECONDS = 1.0
_MEMORY_LINES = 50  # of the task's last ones, in which an error for lack of memory is looked for


class _EndedBefore(Exception):
    """The end was wanted before the entrypoint had begun."""


class TaskSupervisor:
    """Supervisor that runs one task in the main thread. It returns how the task ended; the caller reports that."""

    def __init__(
        self,
        run_dir: RunDir,
        *,
        link: MasterLink,
        sink: LogSink,
        control: Control,
        orphan_killer: OrphanKiller,
        fork: "Fork | None" = None,
    ) -> None:
        self._run_dir = run_dir
        self._starter = TaskStarter(run_dir, sink, fork)
        self._link = link
        self._sink = sink
        self._control = control
        self._orphan_killer = orphan_killer
        self.ending = Termination()
        self._process: TaskProcess | None = None
        self._services = TaskServices(run_dir, link, sink)
        self._preflight: Preflight | None = None
        self.failed_at: float | None = None  # when a launcher's first rank failed, if one did
        self.label = ""  # for the trial, where the cause of its failure was recognised
        self._stack_requests = StackRequests(
            run_dir, sink, node=link.launch.node_id, spared={orphan_killer.pid, os.getpid()}
        )
        self._kills = KillCount()
        self._python: str | None = None  # the interpreter of the task
        self._workdir: Path | None = None
        self._peer_failed_at: float | None = None  # when we were told that another node failed

    def handle_signals(self, signals: RunnerSignals) -> None:
        """Follow the signals of the master. Called from the listening thread."""
        self._stack_requests.answer(signals.stacks)
        if signals.shell:
            self._services.open_shell()
        if signals.peer_failed:
            self._peer_failed_at = self._peer_failed_at or time.time()
            self.kill("another node of this task failed", PEER_GRACE_SECONDS)
        elif signals.kill or signals.ended:
            self.kill("killed by the master" if signals.kill else "the allocation is over")
        elif signals.preempt:
            self._control.preempt = True
            self._end_if_preemption_is_ignored(_FIRST_QUESTION_SECONDS if self._control.attached else 0.0)

    def _end_if_preemption_is_ignored(self, grace: float) -> None:
        """End a script that never asks about preemption; a core context gives it time for its first question."""

        def end() -> None:
            if not self._control.aware and not self.ending.wanted.is_set():
                self._sink.say("INFO", _IGNORES_PREEMPTION)
                self.ending.request(ExitCause.PREEMPTED, "preempted; it does not watch for preemption")

        if grace == 0.0:
            end()
            return
        timer = threading.Timer(grace, end)
        timer.daemon = True
        timer.start()

    def kill(self, message: str, grace: float | None = None) -> None:
        self._control.kill = True
        self.ending.request(ExitCause.KILLED, message, grace)

    def forward(self, number: int) -> None:
        if self._process is not None:
            self._process.signal(number)

    def run(self) -> tuple[ExitCause, int, str]:
        """Run the task and return (cause, status, message)."""
        try:
            return self._run()
        except _EndedBefore:
            # An installer in the midst of its work, and what it has started: they would hold what others wait for.
            process_tree.kill_all(process_tree.descendants(os.getpid()) - {self._orphan_killer.pid})
            return self.ending.cause or ExitCause.KILLED, 128 + signal.SIGTERM, self.ending.message
        except STALE as e:
            return ExitCause.KILLED, 128 + signal.SIGTERM, str(e)
        except EnvironmentUnusable as e:
            self._say_all(e.message)
            return ExitCause.UNUSABLE, 1, e.message
        except DeterminedError as e:
            self._say_all(e.message)
            return ExitCause.FAILED, 1, e.message

    def _say_all(self, message: str) -> None:
        for line in message.splitlines() or [message]:
            self._sink.say("ERROR", line)

    def _run(self) -> tuple[ExitCause, int, str]:
        run_dir, sink = self._run_dir, self._sink
        prepared = self._interruptibly(lambda: preparation.prepare(run_dir, self._link, sink))
        self._python, self._workdir = prepared.python, prepared.workdir
        argv = command.entrypoint_argv(prepared.spec.entrypoint, sum(prepared.spec.slot_counts))
        hooks = command.hooks(run_dir, prepared.workdir, prepared.spec.startup_hook)
        variables = prepared.variables
        if not hooks:
            variables = self._interruptibly(lambda: self._ready(prepared)) | variables
            sink.phase("RUNNING")
            failure = self._start(argv, variables, prepared)
            if failure is not None:
                self._sink.say("ERROR", HINTS[failure])
                ended = f"{argv[0]}: {HINTS[failure]}"
                return ExitCause.EXITED, failure, self._explain(ended).with_end(ended)
        elif not self._through_hooks(hooks, argv, prepared):
            return self._hook_failed()
        assert self._process is not None
        self._services.begin(prepared, self._process.ended)
        self._watch_over(prepared.spec, self._process)
        self._process.wait()
        if not prepared.spec.is_trial and not prepared.spec.settings:
            self._process.await_writers(command.log_wait_seconds(prepared.variables), self.ending)
        verdict = self._verdict()
        if verdict[1] == 0 and prepared.workdir == run_dir.workdir:
            self._tell_leftovers()
        return verdict

    def _tell_leftovers(self) -> None:
        # Imported here to keep the start fast.
        from determined.exec.runner import unsaved_files

        said = unsaved_files.describe(self._run_dir)
        if said is not None:
            self._sink.say("WARNING", said)

    def _watch_over(self, spec: TaskSpec, process: TaskProcess) -> None:
        if not spec.is_trial:
            return
        from determined.config import ExperimentConfig  # after the task has started

        limit = ExperimentConfig.load(spec.config or {}).watchdog.silent_seconds
        if limit:
            node, spared = self._link.launch.node_id, {self._orphan_killer.pid}
            HangDetector(self._run_dir, self._sink, limit, node=node, spared=spared).start(process.ended)

    def _ready(self, prepared: preparation.Prepared) -> dict[str, str]:
        """Do the last things before the entrypoint of a trial, or of a task on several nodes."""
        if not prepared.spec.is_trial and prepared.spec.address is not None:
            return {}
        self._preflight = self._make_preflight(prepared) if prepared.spec.address is None else None
        met = preparation.meet(prepared.spec, self._link, self._run_dir)
        if self._preflight is not None:
            self._preflight.check(json.loads(met["DET_CONTAINER_ADDRS"]), int(met["DET_CONTAINER_RANK"]))
        preparation.probe_storage(prepared, lambda text: self._sink.say("WARNING", text))
        return met

    def _make_preflight(self, prepared: preparation.Prepared) -> "Preflight":
        # Here, because most tasks have no peers and need not wait for what it imports.
        from determined.exec.runner.preflight.check import Here, Preflight

        spec, launch = prepared.spec, self._link.launch
        here = Here(
            launch.node_id,
            launch.token,
            prepared.variables,
            prepared.workdir,
            spec.config,
            spec.network_interface,
            spec.entrypoint,
        )
        return Preflight(here, self._link, self._sink.say)

    def _through_hooks(self, hooks: list[Path], argv: list[str], prepared: preparation.Prepared) -> bool:
        """Start the shell and lead it from the hooks to the entrypoint; False when it exited before."""
        run_dir = self._run_dir
        done, go = _fifo(run_dir.hooks_done), _fifo(run_dir.hooks_go)
        try:
            self._start(command.write_script(run_dir, hooks, argv), prepared.variables, prepared)
            assert self._process is not None
            while not select.select([done], [], [], _STEP_SECONDS)[0]:
                if self._process.poll():
                    return False
            try:
                hooked = replace(prepared, variables=command.exported(run_dir) or prepared.variables, is_hooked=True)
                command.write_rendezvous(run_dir, self._interruptibly(lambda: self._ready(hooked)))
            except (DeterminedError, _EndedBefore):
                self._process.signal(signal.SIGKILL)
                self._process.wait()
                self._clear_away()
                raise
            self._sink.phase("RUNNING")
            os.write(go, b"go\n")
        finally:
            os.close(done)
            # The shell opens this end by name and may not have come to it yet; it is closed with the process.
        return True

    def _start(self, argv: list[str], variables: dict[str, str], prepared: preparation.Prepared) -> int | None:
        """Start the task and return None, or the status a shell gives when there is no such program.

        Nobody may start this task again.
        """
        output = OutputPipes(self._sink, lambda: self._control.master_away)
        try:
            process = self._starter.start(argv, variables, prepared, output)
        except OSError as e:
            output.start()
            self._sink.say("ERROR", f"cannot start {argv[0]!r}: {e.strerror}")
            return 127 if isinstance(e, FileNotFoundError) else 126
        self._orphan_killer.guard(process.group)
        identity = {"group": process.group, "start_time": process_identity.start_time(process.group)}
        self._run_dir.started.write_text(json.dumps(identity))
        self._process = process
        process.end_when_wanted(self.ending)
        return None

    def _hook_failed(self) -> tuple[ExitCause, int, str]:
        cause, status, message = self._verdict()
        if cause is ExitCause.EXITED and status != 0:
            message = f"a startup hook failed with status {status}; the entrypoint was not started"
            self._sink.say("ERROR", message)
            return ExitCause.FAILED, status, self._explain(message).with_end(message)
        return cause, status, message

    def _verdict(self) -> tuple[ExitCause, int, str]:
        """Return how the task ended. Requests that come after its exit no longer count."""
        assert self._process is not None
        self._await_reason(self._process)
        cause, message, status = self.ending.cause, self.ending.message, self._process.status
        if cause is not None:
            self._process.wait_after_term(self.ending)
        self._clear_away()
        failure = read_failure(self._run_dir.path) if status != 0 else None
        if cause is not None:
            if failure is None or not self._was_before_its_peers(failure):
                return cause, status, message
            return self._failed(failure.status, failure.describe(), failure)
        if status in HINTS:
            self._sink.say("ERROR", HINTS[status])
        if status == 0:
            return ExitCause.EXITED, 0, described(0)
        reasons = [described(status), *([] if failure is None else [failure.describe()])]
        return self._failed(status, "; ".join(reasons), failure)

    def _await_reason(self, process: TaskProcess) -> None:
        """Wait for the reason of the end: a batch system signals the task and us at once, and the task may be first."""
        if process.status != 128 + signal.SIGTERM:
            return
        deadline = time.monotonic() + _SAME_SIGNAL_SECONDS
        while not self.ending.wanted.is_set() and time.monotonic() < deadline:
            time.sleep(_STEP_SECONDS)

    def _was_before_its_peers(self, failure: Failure) -> bool:
        """Check whether this node failed before its peers.

        A launcher takes a moment to end its other ranks. Meanwhile our peers fail, report it, and we are told to end.
        """
        return self._peer_failed_at is not None and failure.time < self._peer_failed_at

    def _failed(self, status: int, message: str, failure: Failure | None) -> tuple[ExitCause, int, str]:
        """Return the end of a task that failed by itself.

        If that was for lack of memory, its trial is labelled, and the log has advice.
        """
        lines = [text for (text, _, _), _ in self._sink.recent][-_MEMORY_LINES:]
        statuses = {status}
        if failure is not None:
            self.failed_at = failure.time
            statuses.add(failure.status)
            lines += failure.lines
        short = find_shortage(statuses, lines, self._kills)
        cause = self._explain(described(status), failure)
        if short is None:
            return ExitCause.EXITED, status, cause.with_end(message)
        self.label = short.label
        has_advice = any(short.advice in line for line in lines)
        self._sink.say("ERROR", short.what if has_advice else f"{short.what}. What helps: {short.advice}")
        return ExitCause.EXITED, status, with_shortage(cause, short).with_end(message)

    def _explain(self, ended: str, failure: Failure | None = None) -> Cause:
        recent = list(self._sink.recent)
        return explain(recent, ended, failure=failure, python=self._python, workdir=self._workdir)

    def _clear_away(self) -> None:
        assert self._process is not None
        self._process.clear_away(spared={self._orphan_killer.pid})

    def _interruptibly(self, work: Callable[[], T]) -> T:
        """Do it in a thread, and stop waiting for it when the end is wanted."""
        answer: Future[T] = Future()

        def run() -> None:
            try:
                answer.set_result(work())
            except BaseException as e:  # noqa: BLE001 (raised again in the main thread)
                answer.set_exception(e)

        threading.Thread(target=run, name="preparation", daemon=True).start()
        while not self.ending.wanted.is_set():
            if wait([answer], timeout=_STEP_SECONDS).done:
                return answer.result()
        self._await_verdict(answer)
        if answer.done() and answer.exception() is not None:
            return answer.result()  # what went wrong here says more than that a peer, whom it befell too, was faster
        raise _EndedBefore

    def _await_verdict(self, answer: "Future[T]") -> None:
        """Wait for this node's own verdict before it ends.

        All nodes come to the same verdict, and the first that fails ends the others: they may report it too. This also
        holds while the reason to end is unknown: the signal to end may arrive before its reason.
        """
        if self._preflight is not None and self._preflight.has_begun:
            wait([answer], timeout=max(0.0, min(self.ending.deadline - time.monotonic(), PEER_GRACE_SECONDS)))


def _fifo(path: Path) -> int:
    path.unlink(missing_ok=True)
    os.mkfifo(path, 0o600)
    # Both ways, so that neither side waits for the other to open it.
    return os.open(path, os.O_RDWR | os.O_NONBLOCK)
