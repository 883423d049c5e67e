"""Variables of sessions: the task's, but for those that are the client's."""

from determined.exec.shell_server.login_shell import TASK_PATH
from determined.exec.shell_server.session_environment import session_variables

TASK = {
    "PATH": "/venv/bin:/bin",
    "DET_TASK_ID": "t",
    "DET_SERVICE_SOCKET": "/s",
    "TERM": "dumb",
    "_": "x",
    "LANG": "C.UTF-8",
    "LC_TIME": "de_DE.UTF-8",
    "BASH_FUNC_a()": "x",
    "A%%": "x",
}


def variables(
    client: dict[str, str] | None = None, *, is_login: bool = True, terminal: str | None = None, kind: str | None = None
) -> dict[str, str]:
    return session_variables(
        TASK, client or {}, shell="/bin/sh", home="/home/a", is_login=is_login, terminal=terminal, terminal_type=kind
    )


def test_sessions_get_the_variables_of_the_task() -> None:
    found = variables()
    assert found["DET_TASK_ID"] == "t" and found["PATH"] == "/venv/bin:/bin"
    assert (found["HOME"], found["SHELL"]) == ("/home/a", "/bin/sh")
    assert not {"_", "TERM", "DET_SERVICE_SOCKET", "BASH_FUNC_a()", "A%%"} & set(found)


def test_a_terminal_has_its_type_and_path() -> None:
    found = variables(terminal="/dev/pts/3", kind="xterm")
    assert (found["TERM"], found["SSH_TTY"]) == ("xterm", "/dev/pts/3")


def test_what_the_client_sends_wins() -> None:
    assert variables({"DET_TASK_ID": "mine", "OWN": "1"})["DET_TASK_ID"] == "mine"


def test_languages_of_client_and_task_are_not_mixed() -> None:
    assert variables()["LC_TIME"] == "de_DE.UTF-8"
    found = variables({"LANG": "fr_FR.UTF-8"})
    assert found["LANG"] == "fr_FR.UTF-8" and "LC_TIME" not in found


def test_only_a_login_shell_has_to_put_path_back() -> None:
    assert variables()[TASK_PATH] == "/venv/bin:/bin"
    assert TASK_PATH not in variables(is_login=False)
