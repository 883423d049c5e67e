"""Output and signals of a program under `det run`, without a master: a small `det run` in a process of its own."""

import os
import pty
import shlex
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

HANG_SECONDS = 60
SMALL_RUN = """
import os, pathlib, sys
from determined.cli.tracking.program import Program
from determined.cli.tracking.relay import Relay
from determined.rundir.line_journal import LineJournal

def lines(parsed):
    if any("fault" in text for text, _, _ in parsed):
        raise RuntimeError("a fault of the reader of lines")

directory = pathlib.Path(sys.argv[1])
relay = Relay(LineJournal(directory), lines)
ending = Program(sys.argv[2:], dict(os.environ), relay).wait((directory / "canceled").exists)
relay.finish()
print(f"canceled={ending.is_canceled}", file=sys.stderr)
sys.exit(ending.code)
"""


def small_run(directory: Path, *command: str) -> list[str]:
    return [sys.executable, "-c", SMALL_RUN, str(directory), *command]


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def in_shell(line: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=HANG_SECONDS, check=False)


def test_a_fault_in_reading_lines_does_not_stop_the_output(tmp_path: Path) -> None:
    command = small_run(tmp_path, *python("print('fault', flush=True)\nfor _ in range(100_000): print('x' * 10)"))
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_SECONDS, check=False)
    assert (done.returncode, len(done.stdout)) == (0, 6 + 11 * 100_000)
    assert "a fault of the reader of lines" in done.stderr


def test_a_slow_reader_gets_all_output(tmp_path: Path) -> None:
    command = shlex.join(small_run(tmp_path, *python("print('x' * 150_000)")))
    done = in_shell(f"{command} | (sleep 3; cat) | wc -c")
    assert done.stdout.strip() == "150001"


def test_a_reader_that_does_not_block_gets_all_output(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    command = small_run(tmp_path, *python("print('x' * 300_000)"))
    with subprocess.Popen(command, stdout=writing) as process, os.fdopen(reading, "rb") as output:
        os.close(writing)
        assert len(output.read()) == 300_001
        assert process.wait(HANG_SECONDS) == 0


def test_a_program_whose_reader_has_gone_gets_sigpipe(tmp_path: Path) -> None:
    done = in_shell(f"{shlex.join(small_run(tmp_path, 'yes'))} | head -1; echo ${{PIPESTATUS[0]}}")
    assert done.stdout == f"y\n{128 + signal.SIGPIPE}\n"


def test_a_terminal_on_standard_error_alone_keeps_its_size(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (33, 77))
    command = small_run(tmp_path, *python("import os; print(os.get_terminal_size(2))"))
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, text=True, timeout=HANG_SECONDS, check=False)
    os.close(theirs)
    os.close(ours)
    assert done.stdout == "os.terminal_size(columns=77, lines=33)\n"


def test_a_program_in_the_background_is_not_waited_for(tmp_path: Path) -> None:
    code = "while sleep 0.1; do echo x; done & echo $!"
    done = subprocess.run(
        small_run(tmp_path, "sh", "-c", code), capture_output=True, text=True, timeout=HANG_SECONDS, check=False
    )
    os.kill(int(done.stdout.split()[0]), signal.SIGKILL)
    assert done.returncode == 0


def test_a_canceled_program_is_ended_with_its_children(tmp_path: Path) -> None:
    child = "trap 'echo ended; exit' TERM; echo ready; sleep 30 & wait"
    # the child may end before its parent gets the signal: the parent must not end by itself then
    command = small_run(tmp_path, "sh", "-c", f"sh -c {shlex.quote(child)} & wait; exec sleep 30")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        (tmp_path / "canceled").touch()
        assert process.wait(HANG_SECONDS) == 128 + signal.SIGTERM
        assert process.stdout.read() == "ended\n"


@pytest.mark.parametrize(("is_ignored", "text"), [(True, "canceled=False"), (False, "canceled=True")])
def test_a_signal_that_is_ignored_does_not_cancel(tmp_path: Path, is_ignored: bool, text: str) -> None:
    code = "import os, signal; os.kill(os.getppid(), signal.SIGHUP); input()"
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN if is_ignored else signal.SIG_DFL)
    try:
        process = subprocess.Popen(
            small_run(tmp_path, *python(code)), stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    finally:
        signal.signal(signal.SIGHUP, before)
    assert text in process.communicate("\n", timeout=HANG_SECONDS)[1]
