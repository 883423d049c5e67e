"""A server as the child of a program: watched, and ended with it."""

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

_PROGRAM = """
    import os, sys
    from determined.exec.child_server import ChildServer

    def look():
        print("look", flush=True)

    child = ChildServer(sys.argv[1:], os.environ)
    status = child.watch(look, 0.05)
    print("status", status, flush=True)
"""


def _watched(tmp_path: Path, script: str) -> "subprocess.Popen[str]":
    (tmp_path / "program.py").write_text(textwrap.dedent(_PROGRAM))
    argv = [sys.executable, str(tmp_path / "program.py"), sys.executable, "-c", textwrap.dedent(script)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)


def test_the_status_of_a_server_that_ends_by_itself_is_passed_on(tmp_path: Path) -> None:
    out, _ = _watched(tmp_path, "import sys; sys.exit(7)").communicate(timeout=60)
    assert out.splitlines()[-1] == "status 7"


def test_a_signal_ends_the_server_and_is_no_failure(tmp_path: Path) -> None:
    with _watched(tmp_path, "import signal; signal.pause()") as process:
        assert process.stdout is not None and process.stdout.readline() == "look\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read().splitlines()[-1] == "status 0"
    assert process.returncode == 0


def test_a_server_that_ignores_the_signal_is_killed(tmp_path: Path) -> None:
    script = """
        import signal, sys
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("deaf", flush=True)
        while True:
            signal.pause()
    """
    with _watched(tmp_path, script) as process:
        assert process.stdout is not None
        while process.stdout.readline() != "deaf\n":
            pass
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read().splitlines()[-1] == "status 0"
