"""Explanation of a failed task in one line: its error, where in the user's own code, the likely cause, what to do."""

import re
from collections.abc import Sequence
from pathlib import Path

from determined.exec.runner.log_line_parser import Line
from determined.exec.runner.private_tmp import TMP
from determined.rundir.failure_cause import LogLine, find_cause

_MISSING = re.compile(rf"No such file or directory: '({TMP}/[^']+)'")


# They would turn the rest of the sentence from right to left. The log shows the error as it was written.
_DIRECTION_CONTROLS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def explain(lines: Sequence[Line], python: str | None) -> str:
    """Explain a failure from the task's last lines; empty where they hold no traceback."""
    cause = find_cause([LogLine(text, "task", (None, rank)) for text, _, rank in lines], python=python)
    if cause.where is None:
        return ""
    return _DIRECTION_CONTROLS.sub("", cause.describe()) + _hidden_in_tmp(cause.what or "")


def _hidden_in_tmp(error: str) -> str:
    match = _MISSING.search(error)
    if match is None or not Path(match[1]).exists():
        return ""
    return (
        f". {match[1]} is in the node's {TMP}, and this task has a {TMP} of its own: name it in bind_mounts, or set"
        " environment.shared_tmp: true"
    )
