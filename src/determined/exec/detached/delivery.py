"""Main loop of the delivery process: wait for the end of the run, deliver the rest, set the state of the trial."""

import logging
import os
import signal
import sys
import threading
import time
from pathlib import Path

from determined._remove_tree import remove_tree
from determined.errors import DeterminedError
from determined.exec.detached.abandoned import take_over
from determined.exec.detached.event_watch import EventWatch
from determined.exec.detached.heartbeat import Heartbeat
from determined.exec.detached.link import DetachedLink
from determined.exec.detached.owner import is_running
from determined.exec.runner.journal_upload import JournalUploader
from determined.exec.runner.log_sink import LogSink
from determined.exec.runner.main_loop import leave
from determined.exec.runner.master_retry import persistently
from determined.rundir import detached
from determined.rundir.control import Control
from determined.rundir.detached import DetachedFile, RunEnd
from determined.rundir.layout import RunDir
from determined.rundir.lock import Lock, hold

logger = logging.getLogger("determined.exec.detached")

_LOOK_SECONDS = 0.1
_PATIENCE_SECONDS = 86_400.0  # after the run's end, for a master that does not answer
_NICE = 5  # whoever trains goes first
KILLED = RunEnd(state="ERROR", message="the process that reported was killed, or ended without reporting its exit")


def main(arguments: list[str]) -> int:
    """Deliver. Status 0: the master has everything, or wants no more of it. 1: it was away for a day."""
    if len(arguments) not in (1, 2) or not all(each.isdecimal() for each in arguments[1:]):
        sys.stderr.write("usage: python -m determined.exec.detached RUN_DIR [LOCK]\n")
        return 2
    os.umask(0o077)
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # a terminal that closes, or a shutdown: the run's own end is what counts
    run_dir = RunDir(Path(arguments[0]))
    is_begun = len(arguments) == 2  # by a run that goes on; else one is over, and taken over
    lock = Lock(int(arguments[1])) if is_begun else hold(run_dir.lock)
    if lock is None or run_dir.done.exists():
        return 0
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s: %(name)s: %(message)s")
    os.nice(_NICE)
    deliver(run_dir, detached.read(run_dir), is_begun=is_begun)
    leave(0)


def deliver(run_dir: RunDir, file: DetachedFile, *, is_begun: bool) -> None:
    """Deliver until the run has ended and the master has all of it."""
    control, link = Control.open(run_dir.control), DetachedLink(file)
    sink = LogSink(run_dir, _no_hurry, name=f"delivery-{os.urandom(8).hex()}")
    uploader = JournalUploader(link, run_dir, control, lambda reason: sink.say("ERROR", reason))
    uploader.start()
    signs = Heartbeat(link, run_dir, control)
    if file.is_chief:
        signs.start()
    events = EventWatch(run_dir, file, control)
    events.start()
    if is_begun:
        take_over(run_dir.path.parent)
        _wait(run_dir, file)
    signs.stop()
    events.finish()
    _limit_patience()
    _finish(run_dir, file, link, uploader, sink)


def _no_hurry() -> None:
    """Leave the lines of this process to the uploader's next look."""


def _wait(run_dir: RunDir, file: DetachedFile) -> None:
    """Wait for the run's own word, or for the death of its process."""
    while is_running(file) and not run_dir.end.exists():
        time.sleep(_LOOK_SECONDS)


def _limit_patience() -> None:
    """Leave some time after the run's end, whatever is left: a master that never returns would keep us for ever."""
    timer = threading.Timer(_PATIENCE_SECONDS, _give_up)
    timer.daemon = True
    timer.start()


def _give_up() -> None:
    logger.error("the master has not got everything in %.0f s; the next run delivers the rest", _PATIENCE_SECONDS)
    leave(1)


def _finish(run_dir: RunDir, file: DetachedFile, link: DetachedLink, uploader: JournalUploader, sink: LogSink) -> None:
    end = detached.read_end(run_dir) or KILLED
    _copy_last_events(run_dir, sink)
    uploader.drain()  # the run's own words come first
    if file.is_chief:
        sink.say("INFO" if end.state == "COMPLETED" else "ERROR", end.message)
    is_wanted = uploader.drain()
    if file.is_chief and is_wanted:  # else another run of the trial has begun, and its state is that one's
        _set_state(link, end.state)
    run_dir.done.touch()
    remove_tree(str(run_dir.path))


def _set_state(link: DetachedLink, state: str) -> None:
    try:
        persistently(lambda: link.set_state(state))
    except DeterminedError as e:
        logger.error("the state %s is not taken: %s", state, e)


def _copy_last_events(run_dir: RunDir, sink: LogSink) -> None:
    """Copy TensorBoard files that a killed process could not copy to the checkpoint storage."""
    if not run_dir.event_files(0).exists():
        return
    from determined.exec.detached.last_events import copy_last_events

    copy_last_events(run_dir, lambda text: sink.say("WARNING", text))
