"""wrap_rank: every line of a worker says whose it is."""

import os
import signal
import subprocess
import sys

import pytest


def wrap(*arguments: str, module: str = "launch", **environment: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", f"determined.{module}.wrap_rank", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | environment, timeout=60
    )


@pytest.mark.parametrize("module", ["launch", "launcher"])
def test_lines_of_both_streams_are_marked(module: str) -> None:
    done = wrap("3", "--", "sh", "-c", "echo one; echo two >&2; printf last", module=module)
    assert done.stdout == "[rank=3] one\n[rank=3] last\n"
    assert done.stderr == "[rank=3] two\n"
    assert done.returncode == 0


def test_rank_comes_from_the_first_variable_that_is_set() -> None:
    assert wrap("NOT_SET,MY_RANK,RANK", "echo", "x", MY_RANK="5", RANK="6").stdout == "[rank=5] x\n"


def test_rank_found_nowhere_is_status_1_with_a_message() -> None:
    done = wrap("NOT_SET", "echo", "x")
    assert done.returncode == 1
    assert "none of NOT_SET is set" in done.stderr


def test_empty_script_is_a_usage_error() -> None:
    done = wrap("0", "--")
    assert done.returncode == 1
    assert "empty script is not allowed" in done.stderr


def test_options_of_the_script_are_its_own() -> None:
    done = wrap("0", "echo", "--no-redirect-stdio", "-n")
    assert done.stdout == "[rank=0] --no-redirect-stdio -n\n"


def test_returns_end_lines_and_wrong_bytes_are_replaced() -> None:
    code = r"import os; os.write(1, b'10%\r20%\r\nbad\xff\n' + b'x' * 9000)"
    done = wrap("1", sys.executable, "-c", code)
    lines = done.stdout.splitlines()
    assert lines[:3] == ["[rank=1] 10%", "[rank=1] 20%", "[rank=1] bad\ufffd"]
    assert "".join(line.removeprefix("[rank=1] ") for line in lines[3:]) == "x" * 9000


def test_status_of_the_script_is_ours() -> None:
    assert wrap("0", "sh", "-c", "exit 7").returncode == 7
    assert wrap("0", "sh", "-c", "kill -9 $$").returncode == 256 - 9


def test_signals_reach_the_script() -> None:
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGUSR1, lambda *_: sys.exit(21))\n"
        "print('up', flush=True)\n"
        "while True: time.sleep(0.05)\n"  # short: a signal that comes just before it does not cut it short
    )
    command = [sys.executable, "-m", "determined.launch.wrap_rank", "0", sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.send_signal(signal.SIGUSR1)
        assert child.wait(60) == 21
