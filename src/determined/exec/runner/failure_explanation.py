"""Explanation of a failed task, from what its runner knows: the last lines, the interpreter, the files of the user."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from determined.exec.runner.memory import Shortage
from determined.exec.runner.private_tmp import TMP
from determined.rundir.failure import Failure
from determined.rundir.failure_analysis import LogLine, find_cause
from determined.rundir.failure_cause import Cause
from determined.rundir.failure_rules import Circumstances, explain_end
from determined.rundir.log_line_parser import Line

_MISSING = re.compile(rf"No such file or directory: '({TMP}/[^']+)'")


def explain(
    recent: Iterable[tuple[Line, str]],
    ended: str,
    *,
    failure: Failure | None = None,
    python: str | None = None,
    workdir: Path | None = None,
) -> Cause:
    """Explain a failure from the task's last lines, each with its stream.

    Args:
        failure: what a launcher says of the rank that failed first.
    """
    lines = [LogLine(text, rank, stream == "stderr", level) for (text, level, rank), stream in recent]
    if failure is not None:
        # The launcher's own lines say what `failure` says.
        lines = [line for line in lines if line.rank is not None or line.level != "ERROR"]
        lines += [LogLine(text, failure.rank) for text in failure.lines]
    own = own_modules(workdir) if workdir is not None else frozenset[str]()
    cause = find_cause(lines, ended, Circumstances(python, own))
    hidden = _hidden_in_tmp(cause.what or "")
    return replace(cause, advice=hidden) if hidden else cause


def with_shortage(cause: Cause, shortage: Shortage) -> Cause:
    """Return the cause of a task that ran out of memory. The fix is brief: the log has the long advice."""
    _, advice = explain_end(shortage.what, Circumstances()) or (None, shortage.advice)
    return replace(cause, likely=shortage.what, advice=advice)


def own_modules(workdir: Path) -> frozenset[str]:
    """Return the names by which Python imports what lies at the top of the submitted directory."""
    try:
        return frozenset(path.stem for path in workdir.iterdir() if path.suffix == ".py" or path.is_dir())
    except OSError:  # the task may have removed it: then nothing is known to be the user's
        return frozenset()


def _hidden_in_tmp(error: str) -> str:
    match = _MISSING.search(error)
    if match is None or not Path(match[1]).exists():
        return ""
    return (
        f"{match[1]} is in the node's {TMP}, and this task has a {TMP} of its own: name it in bind_mounts, or set"
        " environment.shared_tmp: true"
    )
