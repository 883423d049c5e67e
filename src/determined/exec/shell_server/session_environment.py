"""The variables of a session: the task's, then those of SSH, then those that the client sends."""

import os
import pwd
from collections.abc import Mapping
from pathlib import Path

from determined.exec.shell_server.login_shell import TASK_PATH

# The client's own, or those of its terminal. LANG and LC_* of the task apply where the client sends none.
_NOT_TASKS = ("_", "TERM")
_OF_SERVER = "DET_SERVICE_"
# sshd says so of a connection that has no address. SSH_CLIENT, which OpenSSH calls deprecated, is left out: by it bash
# would read ~/.bashrc before every command, and what that puts in front of PATH would hide the task's own programs.
_UNKNOWN = "UNKNOWN 65535 UNKNOWN 65535"


def session_variables(
    task: Mapping[str, str],
    client: Mapping[str, str],
    *,
    shell: str,
    home: str,
    is_login: bool,
    terminal: str | None = None,
    terminal_type: str | None = None,
) -> dict[str, str]:
    """Return the variables of one session.

    Args:
        task: those of the task.
        client: those that the client sends; they win.
        shell: the login shell.
        home: the home directory.
        is_login: a login shell, not a command.
        terminal: path of the session's terminal, if it has one.
        terminal_type: what the client calls its terminal.
    """
    result = _account() | {name: value for name, value in task.items() if _is_for_sessions(name)}
    result |= {"HOME": home, "SHELL": shell, "SSH_CONNECTION": _UNKNOWN}
    if terminal is not None:
        result |= {"SSH_TTY": terminal, "TERM": terminal_type or "dumb"}
    if is_login:
        result[TASK_PATH] = task.get("PATH", "")
    if any(name == "LANG" or name.startswith("LC_") for name in client):
        # A half of each would be a third language.
        result = {name: value for name, value in result.items() if name != "LANG" and not name.startswith("LC_")}
    return result | {name: value for name, value in client.items() if name and "\0" not in name + value}


def home_directory(task: Mapping[str, str], uid: int) -> str:
    """Return the home of the task: the runner has chosen one that belongs to this user. Without it, the account's."""
    if Path(task.get("HOME", "")).is_absolute() and Path(task["HOME"]).is_dir():
        return task["HOME"]
    try:
        return pwd.getpwuid(uid).pw_dir
    except KeyError:
        return "/"


def _account() -> dict[str, str]:
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return {}
    return {"USER": name, "LOGNAME": name}


def _is_for_sessions(name: str) -> bool:
    return name not in _NOT_TASKS and not name.startswith(_OF_SERVER) and "%%" not in name and "()" not in name
