"""Program of every launcher: usage errors, supervision, and the first failure shown as the cause."""

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from determined.errors import DeterminedError
from determined.launch import environment
from determined.launch._arguments import UsageError
from determined.launch._supervisor import Outcome, supervise
from determined.launch._worker import Work
from determined.rundir.control import Control
from determined.rundir.failure import Failure, forget_failure, read_failure, record_failure
from determined.rundir.layout import RunDir


def program(usage: str, run: Callable[[], int]) -> int:
    """The status of `run`; 1 with a message where the command line or the surroundings are at fault."""
    try:
        return run()
    except UsageError as e:
        sys.stderr.write(usage + (f"error: {e}\n" if str(e) else ""))
        return 1 if str(e) else 0
    except DeterminedError as e:
        sys.stderr.write(f"ERROR: {e.message}\n")
        return 1


def launch(work: Sequence[Work]) -> int:
    """Start the ranks of this node; the status of the first that fails, after its last lines were shown."""
    run_dir = environment.run_dir()
    if run_dir is not None:
        forget_failure(run_dir)
    outcome = supervise(work, on_failure=keep, ignores_failure=ignores_failures)
    _show_cause(outcome)
    return outcome.status


def launch_foreign(
    argv: Sequence[str],
    variables: dict[str, str],
    *,
    noise: re.Pattern[str] | None = None,
    alarm: re.Pattern[str] | None = None,
    followers: Path | None = None,
    hasty: bool = False,
) -> int:
    """Run a launcher that is not ours; its ranks run under wrap_rank, which keeps the first failure of each attempt.

    Args:
        noise: what it puts before the lines of its ranks.
        alarm: a line by which it tells that one of them failed, on whatever node.
        followers: where its ranks are listed that somebody else starts on this node.
        hasty: do not wait for it to leave once one has failed: end it, as the peers of a failed rank are.
    """
    run_dir = environment.run_dir()
    if run_dir is not None:
        forget_failure(run_dir)
    must_end = (lambda: read_failure(run_dir) is not None) if hasty and run_dir is not None else None
    work = Work(argv, variables, None, ignores_user_signals=True, noise=noise, alarm=alarm, followers=followers)
    outcome = supervise([work], must_end=must_end, ignores_failure=ignores_failures)
    if outcome.failure is None or outcome.was_signalled:
        return outcome.status
    of_rank = read_failure(run_dir) if run_dir is not None else None
    if of_rank is None:
        keep(outcome.failure)
    _show_cause(Outcome(of_rank or outcome.failure, was_signalled=False))
    return outcome.status if of_rank is None else of_rank.status


def keep(failure: Failure) -> None:
    """Tell the runner, which makes it the reason of the task's exit."""
    run_dir = environment.run_dir()
    if run_dir is not None:
        record_failure(run_dir, failure)


def ignores_failures() -> bool:
    """Check whether a rank found its hyperparameters invalid: then the trial ends well, whatever the other ranks do."""
    run_dir = environment.run_dir()
    if run_dir is None or not (path := RunDir(run_dir).control).exists():
        return False
    control = Control.open(path)
    try:
        return control.invalid_hp
    finally:
        control.close()


def _show_cause(outcome: Outcome) -> None:
    if outcome.failure is None or outcome.was_signalled:
        return
    sys.stdout.flush()
    for line in outcome.failure.describe().splitlines():
        sys.stderr.write(f"ERROR: {line}\n")
    sys.stderr.flush()
