"""One failed rank ends all of a node, is named as the cause, and leaves nothing behind; signals and statuses pass."""

import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING

import psutil
import pytest

if TYPE_CHECKING:
    from .conftest import Task

SHELL = ("torch_distributed", "sh", "-c")


def test_every_rank_runs_and_its_lines_are_marked(task: "Task") -> None:
    done = task.launch(*SHELL, "echo out $RANK; echo err $RANK >&2")
    assert sorted(done.stdout.splitlines()) == ["[rank=0] out 0", "[rank=1] out 1"]
    assert sorted(done.stderr.splitlines()) == ["[rank=0] err 0", "[rank=1] err 1"]
    assert done.returncode == 0
    assert not (task.run_dir / "failure.json").exists()


def test_first_failing_rank_gives_its_status_and_its_last_lines_as_the_cause(task: "Task") -> None:
    script = 'test $RANK = 0 && exec sleep 600; for n in $(seq 20); do echo line $n; done; echo "it broke" >&2; exit 3'
    began = time.monotonic()
    done = task.launch(*SHELL, script)
    assert time.monotonic() - began < 60
    assert done.returncode == 3
    assert "ERROR: rank 1 failed first here, with status 3. Its last lines:\n" in done.stderr
    shown = done.stderr.split("Its last lines:\n")[1].splitlines()
    assert len(shown) == 10
    assert "ERROR:     line 20" in shown and "ERROR:     it broke" in shown
    assert (task.failure["rank"], task.failure["status"], len(task.failure["lines"])) == (1, 3, 10)
    assert abs(task.failure["time"] - time.time()) < 60
    assert (task.run_dir / "failure.json").stat().st_mode & 0o777 == 0o600


INVALID_HP = """
import os, pathlib, sys, time
from determined.rundir.control import Control
control = Control.open(pathlib.Path(os.environ["DET_RUN_DIR"]) / "control")
if os.environ["RANK"] == "1":
    control.invalid_hp = True
    sys.exit(0)
while not control.invalid_hp: time.sleep(0.01)
sys.exit("rank 1 does not answer")
"""


@pytest.mark.parametrize(
    "words", [(), pytest.param(("--max_restarts", "0", "--"), marks=pytest.mark.engines)], ids=["ours", "torchrun"]
)
def test_peers_of_a_rank_with_invalid_hyperparameters_fail_for_nothing(task: "Task", words: tuple[str, ...]) -> None:
    done = task.launch("torch_distributed", *words, sys.executable, "-c", INVALID_HP)
    assert "rank 1 does not answer" in done.stderr
    assert done.returncode == 0, done.stderr
    assert not (task.run_dir / "failure.json").exists()


FIRST_AND_LAST = """
here=$(dirname $0)
if [ $RANK = 0 ]; then
  echo $$ > $here/pid.new; mv $here/pid.new $here/pid
  until [ -e $here/raised ]; do sleep 0.05; done
  echo "Traceback (most recent call last):" >&2; echo "RuntimeError: lost a peer" >&2; exit 1
fi
echo "Traceback (most recent call last):" >&2; echo "ValueError: the cause" >&2; touch $here/raised
until [ -e $here/pid ]; do sleep 0.05; done
while kill -0 $(cat $here/pid) 2> $here/gone; do sleep 0.05; done
exit 3
"""


def test_rank_that_raised_first_is_the_cause_though_it_leaves_last(task: "Task") -> None:
    """Frameworks tell their peers of it on the way out, and take longer than those."""
    script = task.run_dir / "script"
    script.write_text(FIRST_AND_LAST)
    done = task.launch("torch_distributed", "sh", str(script))
    assert (task.failure["rank"], done.returncode) == (1, 3), done.stderr
    assert "ValueError: the cause" in task.failure["lines"]


def test_killed_rank_is_128_and_its_signal(task: "Task") -> None:
    done = task.launch(*SHELL, "test $RANK = 0 && exec sleep 600; kill -9 $$")
    assert done.returncode == 128 + 9
    assert "rank 1 failed first here, ended by SIGKILL (out of memory?)" in done.stderr


def test_rank_that_ignores_term_is_killed_and_all_are_gone(task: "Task") -> None:
    deaf = task.run_dir / "deaf"
    script = (
        "import os, pathlib, signal, sys, time\n"
        f"deaf = pathlib.Path({str(deaf)!r})\n"
        "if os.environ['RANK'] == '0':\n"
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "    print(os.getpid(), flush=True)\n"
        "    deaf.touch()\n"
        "    time.sleep(600)\n"
        "while not deaf.exists(): time.sleep(0.01)\n"
        "print(time.time(), flush=True)\n"
        "sys.exit(4)\n"
    )
    done = task.launch("torch_distributed", sys.executable, "-c", script)
    lines = dict(line.split(" ") for line in done.stdout.splitlines())
    assert time.time() - float(lines["[rank=1]"]) < 60
    assert done.returncode == 4
    assert not _lives(int(lines["[rank=0]"]))


def test_what_a_rank_started_ends_with_it(task: "Task") -> None:
    done = task.launch(*SHELL, "sleep 600 & echo $!; exit 0")
    assert done.returncode == 0
    _until_gone([int(line.rpartition(" ")[2]) for line in done.stdout.splitlines()])


def test_rank_that_ends_well_waits_for_the_others(task: "Task") -> None:
    script = f"test $RANK = 0 && exit 0; sleep 0.5; touch {task.run_dir}/late"
    assert task.launch(*SHELL, script).returncode == 0
    assert (task.run_dir / "late").exists()


def test_told_to_end_lets_every_rank_leave_at_its_own_pace(task: "Task") -> None:
    """The first to leave is no failure then: the others may still be saving."""
    script = (
        "import os, signal, sys, time\n"
        "def leave(*_):\n"
        "    time.sleep(2.5 if os.environ['RANK'] == '1' else 0)\n"
        "    print('saved', flush=True); sys.exit(0 if os.environ['RANK'] == '1' else 9)\n"
        "signal.signal(signal.SIGTERM, leave)\n"
        "print('up', flush=True)\n"
        "while True: time.sleep(0.05)\n"  # short: a signal that comes just before it does not cut it short
    )
    with task.start("torch_distributed", sys.executable, "-c", script) as child:
        assert child.stdout is not None
        child.stdout.readline(), child.stdout.readline()
        child.terminate()
        out, err = child.communicate(timeout=60)
    assert sorted(out.splitlines()) == ["[rank=0] saved", "[rank=1] saved"]
    assert child.returncode == 9
    assert "failed first" not in err
    assert not (task.run_dir / "failure.json").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2])
def test_signals_reach_every_rank(task: "Task", number: signal.Signals) -> None:
    script = f"trap 'echo heard; exit 0' {number.name[3:]}; echo up; while :; do sleep 0.05; done"
    with task.start(*SHELL, script) as child:
        assert child.stdout is not None
        child.stdout.readline(), child.stdout.readline()
        child.send_signal(number)
        out, _ = child.communicate(timeout=60)
    assert sorted(out.splitlines()) == ["[rank=0] heard", "[rank=1] heard"]
    assert child.returncode == 0


def test_shell_that_dies_of_term_leaves_its_program_time_to_save(task: "Task") -> None:
    program = "import signal,sys,time; signal.signal(15, lambda *_: (time.sleep(1), print('saved'), sys.exit())); "
    endless = "[time.sleep(0.05) for _ in iter(int, 1)]"
    script = f'{sys.executable} -c "{program} print(1, flush=True); {endless}"; true'
    with task.be([1]).start(*SHELL, script) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.terminate()
        out, _ = child.communicate(timeout=60)
    assert out == "[rank=0] saved\n"
    assert child.returncode == 128 + signal.SIGTERM


def test_killed_launcher_takes_its_ranks_along(task: "Task") -> None:
    with task.start(*SHELL, "echo $$; exec sleep 600") as child:
        assert child.stdout is not None
        pids = [int(child.stdout.readline().rpartition(" ")[2]) for _ in range(2)]
        child.kill()
        child.communicate(timeout=60)
    _until_gone(pids)


def test_program_that_is_not_there_is_127_and_said(task: "Task") -> None:
    done = task.launch("torch_distributed", "no-such-program")
    assert done.returncode == 127
    assert "ERROR: cannot start 'no-such-program': No such file or directory" in done.stderr


def test_failure_of_an_earlier_launcher_is_forgotten(task: "Task") -> None:
    assert task.launch(*SHELL, "exit 1").returncode == 1
    assert task.launch(*SHELL, "exit 0").returncode == 0
    assert not (task.run_dir / "failure.json").exists()


def test_own_launcher_with_wrap_rank_keeps_the_first_failure_too(task: "Task") -> None:
    command = [sys.executable, "-m", "determined.launch.wrap_rank", "5", "sh", "-c", "echo oh no; exit 6"]
    assert subprocess.run(command, env=task.environment, capture_output=True, check=False).returncode == 6
    assert (task.failure["rank"], task.failure["status"], task.failure["lines"]) == (5, 6, ["oh no"])


def test_output_of_many_lines_comes_whole(task: "Task") -> None:
    done = task.be([4]).launch(*SHELL, "seq 20000")
    assert done.returncode == 0
    for rank in range(4):
        mine = [line for line in done.stdout.splitlines() if line.startswith(f"[rank={rank}] ")]
        assert mine == [f"[rank={rank}] {n}" for n in range(1, 20001)]


def test_signal_that_comes_while_nobody_reads_costs_no_output(task: "Task") -> None:
    """It cuts short what the launcher writes."""
    at_once = "import os; os.write(1, ''.join(f'{n}\\n' for n in range(10000)).encode())"
    with task.be([1]).start("torch_distributed", sys.executable, "-c", at_once) as child:
        assert child.stdout is not None
        room = fcntl.fcntl(child.stdout, fcntl.F_GETPIPE_SZ)
        while fcntl.ioctl(child.stdout, termios.FIONREAD, bytes(4)) != room.to_bytes(4, sys.byteorder):
            assert child.poll() is None
            time.sleep(0.01)
        child.send_signal(signal.SIGWINCH)
        out, _ = child.communicate(timeout=60)
    assert out.splitlines() == [f"[rank=0] {n}" for n in range(10000)]


def _until_gone(pids: list[int]) -> None:
    deadline = time.monotonic() + 60
    while any(_lives(pid) for pid in pids):
        assert time.monotonic() < deadline, pids
        time.sleep(0.02)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except (ProcessLookupError, psutil.NoSuchProcess):
        return False
