"""What SIGUSR1 prints, and what nobody else is bothered with."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import ctypes, os, select, signal, sys, threading, time
from pathlib import Path
from determined.core import _stack_dump
from determined.rundir.heartbeat import STACK_SIGNAL
if "earlier" in sys.argv:
    signal.signal(signal.SIGUSR1, lambda *_: print("earlier", flush=True))
_stack_dump.install()
_stack_dump.install()  # a second core context in one process
Path(sys.argv[1]).touch()
_stack_dump.install_on_demand(Path(sys.argv[1]))
within = threading.Event()
def other_thread():
    within.set()
    threading.Event().wait()
threading.Thread(target=other_thread, daemon=True).start()
within.wait()
def busy_in_c():
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], 0)[0]:  # until the signal is sent
        ctypes.PyDLL(None).usleep(400_000)
busy_in_c()
print("done", flush=True)
"""


def _signalled(tmp_path: Path, number: int, *words: str) -> tuple[str, str, str]:
    """(stdout, stderr, stacks file) of a program that got one signal."""
    stacks = tmp_path / "stacks"
    command = [sys.executable, "-c", PROGRAM, str(stacks), *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as program:
        assert program.stdout is not None
        program.stdout.readline()
        program.send_signal(number)
        out, err = program.communicate(timeout=60)
    assert program.returncode == 0
    return out, err, stacks.read_text()


def test_sigusr1_prints_all_threads_of_a_process_inside_a_c_call_and_chains(tmp_path: Path) -> None:
    out, err, _ = _signalled(tmp_path, signal.SIGUSR1, "earlier")
    assert "in busy_in_c" in err and "in other_thread" in err
    assert out.split() == ["earlier", "done"]


def test_sigusr1_ends_nothing_where_nobody_handled_it_before(tmp_path: Path) -> None:
    out, err, _ = _signalled(tmp_path, signal.SIGUSR1)
    assert "in busy_in_c" in err
    assert out.split() == ["done"]


@pytest.mark.skipif(not hasattr(signal, "SIGRTMIN"), reason="no real-time signals here")
def test_the_runners_question_goes_to_the_file_and_to_nobody_else(tmp_path: Path) -> None:
    from determined.rundir.heartbeat import STACK_SIGNAL

    assert STACK_SIGNAL is not None
    out, err, stacks = _signalled(tmp_path, STACK_SIGNAL, "earlier")
    assert "in busy_in_c" in stacks and "in other_thread" in stacks
    assert err == ""
    assert out.split() == ["done"]
