"""The shell of a session: which program, and the words to start it with."""

import os
import pwd
from collections.abc import Mapping, Sequence
from pathlib import Path

TASK_PATH = "DET_SHELL_PATH"  # carries PATH of the task past the profiles
_REFUSING = ("nologin", "false", "sync")  # shells of accounts that nobody logs in to
_FALLBACKS = ("/bin/bash", "/bin/sh")
# A login shell reads profiles, and those of Debian set PATH anew: `python3` and `det` would no longer be the task's. So
# the task's PATH is put in front again, and another shell takes over. Every shell understands the outer line.
_PUT_BACK = f'PATH="${TASK_PATH}:$PATH"; unset {TASK_PATH}; export PATH; exec "$SHELL"'


def find_shell(variables: Mapping[str, str]) -> str:
    """Return the shell of the task's user: $SHELL of the task, else that of the account, else bash or sh."""
    candidates = [variables.get("SHELL", ""), _account_shell(), *_FALLBACKS]
    return next((path for path in candidates if _is_usable(path)), "/bin/sh")


def login_argv(shell: str, *, interactive: bool) -> list[str]:
    """Return the words that start a shell after the profiles; without a terminal it reads commands from a pipe."""
    flag = " -i" if interactive else ""
    return [shell, "-l", "-c", f"exec /bin/sh -c '{_PUT_BACK}{flag}'"]


def command_argv(shell: str, command: str) -> list[str]:
    """Return the words that run a command, without the profiles."""
    return [shell, "-c", command]


def on_terminal(terminal: str, argv: Sequence[str]) -> list[str]:
    """Return the words that start a program on a terminal: a new session gets the first terminal that it opens."""
    return ["/bin/sh", "-c", 'exec "$@" <>"$0" >&0 2>&0', terminal, *argv]


def _account_shell() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_shell
    except KeyError:
        return ""


def _is_usable(path: str) -> bool:
    return path.startswith("/") and Path(path).name not in _REFUSING and os.access(path, os.X_OK)
