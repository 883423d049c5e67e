"""Main loop of a runner: take the directory, supervise one task, leave when all is reported."""

import gc
import json
import logging
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from determined.exec.runner import process_tree
from determined.exec.runner.orphan_killer import OrphanKiller, start_orphan_killer
from determined.rundir.layout import RunDir
from determined.rundir.lock import hold

if TYPE_CHECKING:
    from determined.exec.master_link import MasterLink
    from determined.exec.runner.forked.standby import Fork, Origin

logger = logging.getLogger("determined.exec.runner")

_FIRST_POLL_SECONDS = 1.0


def main(arguments: list[str], origin: "Origin | None" = None) -> int:
    """Run one task. `origin`: the fork server that this process was forked from; None for a new interpreter."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m determined.exec.runner RUN_DIR\n")
        return 2
    os.umask(0o077)
    run_dir = RunDir(Path(arguments[0]).resolve())
    run_dir.create()
    lock = hold(run_dir.lock)
    if lock is None or run_dir.done.exists():
        # Starting a runner twice is harmless: the first one goes on, or has reported everything.
        return 0
    starter = _tied_to(run_dir)
    if starter is not None:
        process_tree.die_with_parent()
        if os.getppid() != starter:
            return 1  # it was gone before the kernel knew of our tie
    if os.getsid(0) != os.getpid():
        _detach()
    process_tree.adopt_orphans()
    run_dir.pid.write_text(str(os.getpid()))
    orphan_killer = start_orphan_killer(str(run_dir.path))
    fork = _start_standby(origin) if origin is not None and not run_dir.started.exists() else None
    logging.basicConfig(
        filename=run_dir.runner_log,
        level=logging.INFO,
        format="%(asctime)s %(levelname)s: %(name)s: %(message)s",
        force=origin is not None,  # a module that the fork server imported may have set up the root logger
    )
    status = _supervise(run_dir, orphan_killer, fork)
    orphan_killer.release()
    return status


def _tied_to(run_dir: RunDir) -> int | None:
    """Return the pid of the sitter to end with, or None. On another host nobody looks for a runner without one."""
    try:
        pid = json.loads(run_dir.launch.read_bytes()).get("tiedTo")
    except (OSError, ValueError, AttributeError):
        return None  # the next reader reports what is wrong with it
    return pid if isinstance(pid, int) else None


def _detach() -> None:
    """Start a session of our own: signals to the terminal or the group of our starter are not for us."""
    try:
        os.setsid()
    except PermissionError:
        logger.warning("cannot leave the session: this process leads a group; start it with start_new_session")


def _start_standby(origin: "Origin") -> "Fork":
    from determined.exec.runner.forked.standby import Fork, start_standby

    return Fork(start_standby(origin), origin)


def _supervise(run_dir: RunDir, orphan_killer: OrphanKiller, fork: "Fork | None") -> int:
    try:
        work(run_dir, orphan_killer, fork)
    except Exception:
        # The edge of the process: without a `done` file its engine reports the runner as lost, and the task is retried.
        logger.exception("the runner failed")
        return 1
    return 0


def work(run_dir: RunDir, orphan_killer: OrphanKiller, fork: "Fork | None" = None) -> None:
    """Run the task. Imports come late: the process that takes the lock and forks the orphan killer is small."""
    from determined.exec.master_link import MasterLink
    from determined.exec.runner.journal_upload import JournalUploader
    from determined.exec.runner.log_sink import LogSink
    from determined.exec.runner.master_retry import persistently
    from determined.exec.runner.recovery import label, recover
    from determined.exec.runner.signals import SignalListener
    from determined.exec.runner.task_supervisor import FORWARDED, TaskSupervisor
    from determined.rundir.control import Control

    gc.enable()  # see __main__.py
    link, control = MasterLink(run_dir.launch), Control.open(run_dir.control)
    hurry: list[JournalUploader] = []
    sink = LogSink(run_dir, lambda: hurry[0].hurry() if hurry else None)
    supervisor = TaskSupervisor(run_dir, link=link, sink=sink, control=control, orphan_killer=orphan_killer, fork=fork)
    uploader = JournalUploader(link, run_dir, control, supervisor.kill, lambda text: sink.say("ERROR", text))
    hurry.append(uploader)

    def end(number: int, _: object) -> None:
        # Once is enough; a second one in the midst of this would wait for locks that the first holds. With a
        # handler, not SIG_IGN: what is ignored here would be ignored by a task that is started now.
        signal.signal(number, lambda *_: None)
        supervisor.kill("the runner was told to end")

    signal.signal(signal.SIGTERM, end)
    for number in FORWARDED:
        signal.signal(number, lambda received, _: supervisor.forward(received))
    if run_dir.started.exists():
        sink.journal.skip_to(persistently(lambda: uploader.position(sink.journal.name)))
        uploader.start()
        verdict, supervisor.label = recover(run_dir, sink), label(run_dir)
    else:
        uploader.start()
        SignalListener(link, control, supervisor.handle_signals).start(_first_poll_after(link))
        verdict = supervisor.run()
    if verdict is not None and run_dir.event_files(0).exists():
        # Imported here to keep the start fast.
        from determined.exec.runner.event_file_upload import copy_last_events

        copy_last_events(run_dir, lambda text: sink.say("WARNING", text))
    if verdict is not None:
        # With the last of the output, in one request: the uploader says it when all journals are said.
        sink.exit(*verdict, at=supervisor.failed_at, label=supervisor.label)
    uploader.drain()
    _finish(run_dir, verdict)


def _first_poll_after(link: "MasterLink") -> float:
    """Return after how many seconds signals are polled: a short task has ended by then.

    One that must end sooner is told so by its engine, and one that has peers may lose them at any moment.
    """
    spec = link.launch.spec
    return _FIRST_POLL_SECONDS if spec is not None and len(spec.slot_counts) == 1 else 0.0


def _finish(run_dir: RunDir, verdict: tuple[object, int, str] | None) -> None:
    from determined.exec.runner import private_tmp, service

    private_tmp.remove(run_dir)
    service.remove(run_dir)
    cause, status, message = verdict or ("exited", 0, "reported by an earlier runner")
    fresh = run_dir.path / "done.new"
    try:
        fresh.write_text(json.dumps({"cause": str(cause), "status": status, "message": message}))
        fresh.rename(run_dir.done)
    except FileNotFoundError:
        # The directory was removed under us: nobody waits for this runner.
        logger.warning("%s is gone", run_dir.path)


def leave(status: int) -> NoReturn:
    """Exit at once. Everything is on disk; a normal shutdown would wait for threads that are in long polls."""
    logging.shutdown()
    sys.stderr.flush()
    os._exit(status)
