"""Paths in a config that must name the same directory for the submitter, the task, the next run and the master.

Apart from the schemas: training processes import this and should not wait for a YAML parser.
"""

import re

# Nothing else of the shell's: people copy the message into a terminal, and `$(...)` there would run.
_VARIABLE = re.compile(r"\$(\w+|\{\w+\})(/[\w./-]*)?", re.ASCII)
_HOME = re.compile(r"~[\w.-]*(/.*)?", re.ASCII | re.DOTALL)


def path_problem(path: str) -> str | None:
    """Return why a path cannot be looked up by others; None for an absolute one."""
    if path.startswith("/"):
        return None
    from shlex import quote  # only for the message

    if _HOME.fullmatch(path):
        user, slash, rest = path.partition("/")
        typed = user + slash + (quote(rest) if rest else "")
        return f"must be absolute, not `{path}`: `~` is not expanded here; write what `echo {typed}` prints"
    if _VARIABLE.fullmatch(path):
        return (
            f"must be absolute, not `{path}`: variables are not expanded here; "
            f'write what `echo "{path}"` prints, in a place that every node sees'
        )
    return (
        f"must be absolute, not `{path}`: a task runs in a directory that is deleted with it; "
        f"write what `realpath -m {quote(path)}` prints, in a place that every node sees"
    )
