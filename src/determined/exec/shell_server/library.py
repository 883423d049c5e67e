"""AsyncSSH: that of the task's Python, else one that this node installs once for all shells."""

import sys
from importlib.metadata import PackageNotFoundError, version

from determined.environments import programs
from determined.environments.cache_directory import Place
from determined.environments.install import Environment
from determined.environments.interpreter import PREFIX
from determined.environments.programs import Program
from determined.exec.service_program import say

ASYNCSSH = Program("AsyncSSH", ("asyncssh>=2.24,<3",), "shell")
_OLDEST = (2, 24)


def provide(place: Place) -> Environment | None:
    """Make `import asyncssh` work in this process. What is returned must be kept as long as the process uses it.

    The environment is for this version of Python, so this process can import from it. Sessions do not: the search path
    of this process is not in their variables.

    Raises:
        FailedPrecondition: the task's Python lacks it and it cannot be installed here.
    """
    if _installed() >= _OLDEST:
        say("INFO", f"AsyncSSH {version('asyncssh')} of {sys.executable}")
        return None
    environment = programs.provide(ASYNCSSH, place)
    interpreter = environment.interpreter
    sys.path[:0] = [interpreter.prefix + packages.removeprefix(PREFIX) for packages in interpreter.packages]
    return environment


def _installed() -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in version("asyncssh").split(".")[:2])
    except (PackageNotFoundError, ValueError):
        return ()
