"""A trial that is forked sees what a new interpreter would see, and nothing of the trials before it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_master import FakeMaster, RunnerUnderTest, eventually, trial
from forked_runner import ForkedRunnerUnderTest

from determined.engines.host.fork_server import ForkServer
from determined.wire.report import TaskSpec

HERE = Path(__file__).parent
PROBE = (HERE / "interpreter_probe.py").read_text()
MARKS = (HERE / "marking_program.py").read_text()

# A shell that starts the program leads its group and is its parent.
OF_A_SHELL = {"group", "session"}

Run = Callable[..., list[str]]


@pytest.fixture
def run(fork_server: ForkServer, tmp_path: Path) -> Run:
    """Run a trial with these files to its end, and return its output. Each has a runner and a master of its own."""

    def run(files: dict[str, str], entrypoint: str | list[str], *, forked: bool = True, **spec: Any) -> list[str]:
        master = FakeMaster()
        trial(master, tmp_path)
        master.files = files
        master.spec.entrypoint, master.spec.slot_counts, master.spec.address = entrypoint, [1], "127.0.0.1"
        for name, value in spec.items():
            setattr(master.spec, name, value)
        # The same path for all: the states that are compared name it.
        path = tmp_path / "run"
        runner = ForkedRunnerUnderTest(fork_server, master, path) if forked else RunnerUnderTest(master, path)
        try:
            told = runner.start().finish()
            assert told.code == 0, master.texts()
            return [*(f"agent: {text}" for text in master.texts("agent")), *master.texts()]
        finally:
            runner.close()
            eventually(lambda: not (path / "lock").exists() or _removed(path))
            master.close()

    return run


def _removed(path: Path) -> bool:
    from determined._remove_tree import remove_tree

    remove_tree(str(path))
    return True


def state_of(lines: list[str]) -> dict[str, Any]:
    text = "".join(line for line in lines if not line.startswith("agent: "))
    state: dict[str, Any] = json.loads(text.partition("STATE")[2])
    for name in [name for name in state["variables"] if name.startswith(("DET_MASTER", "DET_RESOURCES"))]:
        del state["variables"][name]  # the port of its master
    return state


@pytest.mark.parametrize(
    "entrypoint",
    [
        ["python3", "train.py", "--lr", "0.1"],
        ["python3", "-u", "./nested/train.py"],
        ["python", "-m", "nested.train", "x"],
        "python3 train.py 'two words' --x=1",
        "python3 -m nested",
    ],
    ids=str,
)
def test_forked_trial_sees_what_a_new_interpreter_sees(run: Run, entrypoint: str | list[str]) -> None:
    files = dict.fromkeys(("train.py", "nested/train.py", "nested/__main__.py"), PROBE) | {"nested/__init__.py": ""}
    variables = ["TZ=Asia/Tokyo", "MINE=1", "OMP_NUM_THREADS=1"]
    started = state_of(run(files, entrypoint, forked=False, environment=variables))
    forked = state_of(run(files, entrypoint, environment=variables))
    if isinstance(entrypoint, str):
        started, forked = ({k: v for k, v in state.items() if k not in OF_A_SHELL} for state in (started, forked))
    assert forked == started


def test_no_mark_of_one_trial_is_found_in_the_next(run: Run) -> None:
    files = {"train.py": PROBE, "marks.py": MARKS}
    before = state_of(run(files, ["python3", "train.py"]))
    assert "marked" in run(files, ["python3", "marks.py"])
    assert state_of(run(files, ["python3", "train.py"])) == before


def test_marks_are_where_the_probe_looks(run: Run) -> None:
    """The test above could pass because nobody looks: here the same program marks, then looks."""
    untouched = state_of(run({"train.py": PROBE}, ["python3", "train.py"]))
    marked = state_of(run({"train.py": MARKS.replace('print("marked")', "") + PROBE}, ["python3", "train.py"]))
    equal = {name for name in untouched if untouched[name] == marked[name]}
    assert equal == {
        "environ of /proc", "command", "name", "python", "main loader", "main thread", "rights", "cgroup", "oom",
        "group", "session", "streams", "site",
    }  # fmt: skip


def test_two_trials_draw_different_numbers(run: Run) -> None:
    program = (
        "import random, uuid, multiprocessing\n"
        "print(random.random(), uuid.uuid4(), bytes(multiprocessing.current_process().authkey).hex())\n"
    )
    lines = [run({"train.py": program}, ["python3", "train.py"])[-1].split() for _ in range(2)]
    assert all(first != second for first, second in zip(*lines, strict=True))


@pytest.mark.parametrize(
    ("program", "status", "shown"),
    [
        ("import sys; sys.exit('the reason')", 1, "the reason"),
        ("import sys; sys.exit(7)", 7, ""),
        ("raise SystemExit(300)", 44, ""),
        ("def f():\n    1 / 0\nf()", 1, "ZeroDivisionError: division by zero"),
        ("x = (", 1, "SyntaxError: '(' was never closed"),
        ("raise KeyboardInterrupt", 130, "KeyboardInterrupt"),
        ("import sys\nsys.excepthook = lambda *a: print('mine')\n1 / 0", 1, "mine"),
        ("import os; os._exit(3)", 3, ""),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 137, ""),
        ("import sys; sys.stdout.close(); sys.exit(4)", 4, ""),
    ],
)
@pytest.mark.parametrize("forked", [False, True], ids=["started", "forked"])
def test_end_of_a_program_is_that_of_an_interpreter(
    fork_server: ForkServer,
    fake_master: FakeMaster,
    tmp_path: Path,
    program: str,
    status: int,
    shown: str,
    forked: bool,
) -> None:
    trial(fake_master, tmp_path)
    fake_master.files = {"train.py": program}
    spec: TaskSpec = fake_master.spec
    spec.entrypoint, spec.slot_counts, spec.address = ["python3", "train.py"], [1], "127.0.0.1"
    path = tmp_path / "run"
    runner = ForkedRunnerUnderTest(fork_server, fake_master, path) if forked else RunnerUnderTest(fake_master, path)
    try:
        assert runner.start().finish().code == status
        assert fake_master.texts()[-1:] == ([shown] if shown else [])
        frames = [text for text in fake_master.texts() if text.startswith("  File ")]
        assert all(str(runner.dir.workdir / "train.py") in frame for frame in frames)
    finally:
        runner.close()


def test_program_ends_as_completely_as_an_interpreter(run: Run) -> None:
    """Threads are waited for, exit functions run, files that were left open are written, destructors run."""
    program = """
import atexit, threading, time

class Last:
    def __del__(self):
        print("destroyed")

last = Last()
left_open = open("left.txt", "w")
left_open.write("written")
ended = threading.Event()

def work():
    ended.wait(0.2)
    print("thread")

def look():
    print("exit function", threading.active_count())

atexit.register(look)
threading.Thread(target=work).start()
print("end", end="")
"""
    both = [run({"train.py": program}, ["python3", "train.py"], forked=forked) for forked in (False, True)]
    assert both[0] == both[1]
    assert both[1][-3:] == ["endthread", "exit function 1", "destroyed"]
