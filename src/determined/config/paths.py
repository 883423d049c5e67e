"""Paths in a config that must name the same directory for the submitter, the task, the next run and the master.

Apart from the schemas: training processes import this and should not wait for a YAML parser.
"""


def path_problem(path: str) -> str | None:
    """Why a path cannot be looked up by others; None for an absolute one."""
    if path.startswith("/"):
        return None
    from shlex import quote  # only for the message

    if path.startswith("~"):
        user, slash, rest = path.partition("/")
        typed = user + slash + (quote(rest) if rest else "")
        return f"must be absolute, not `{path}`: `~` is not expanded here; write what `echo {typed}` prints"
    return (
        f"must be absolute, not `{path}`: a task runs in a directory that is deleted with it; "
        f"write what `realpath -m {quote(path)}` prints, in a place that every node sees"
    )
