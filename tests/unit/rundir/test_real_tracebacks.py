"""Tracebacks as real programs print them: the error, the user's own line, and what helps."""

import subprocess
import sys
from pathlib import Path

import pytest

from determined.exec.runner.failure_explanation import explain
from determined.rundir.failure_analysis import LogLine, find_cause
from determined.rundir.failure_cause import Cause

ENDED = "the entrypoint exited with status 1"


@pytest.fixture
def workdir(tmp_path: Path) -> Path:
    place = tmp_path / "run" / "workdir"
    place.mkdir(parents=True)
    return place


def ended(workdir: Path, source: str, **modules: str) -> list[str]:
    """Return what a script that fails prints."""
    for name, text in modules.items():
        (workdir / f"{name}.py").write_text(text)
    script = workdir / "train.py"
    script.write_text(source)
    done = subprocess.run([sys.executable, "-I", str(script)], capture_output=True, text=True, check=False, cwd=workdir)
    assert done.returncode != 0, done.stdout
    return done.stderr.splitlines()


def cause_of(workdir: Path, source: str, **modules: str) -> Cause:
    path = f"import sys; sys.path.insert(0, {str(workdir)!r})\n"
    return find_cause([LogLine(line) for line in ended(workdir, path + source, **modules)], ENDED)


LOCAL_CLASS = """
def train():
    class Diverged(Exception):
        pass
    raise Diverged("loss is nan")
train()
"""
CHAINED = """
def load():
    try:
        {}["lr"]
    except KeyError as e:
        raise ValueError("no learning rate") from e
load()
"""
RECURSION = """
def f(n):
    return f(n + 1)
f(0)
"""
MANY_LINES = """
raise RuntimeError("Error(s) in loading state_dict for Net:\\n\\tMissing key(s): 'a.weight'\\nOther: b")
"""
NOTES = """
error = OSError(28, "No space left on device")
error.add_note("checkpoint storage /data is full")
raise error
"""
POOL = """
import multiprocessing
def work(n):
    raise IndexError(f"worker {n}")
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(1) as pool:
        pool.map(work, [1])
"""


@pytest.mark.parametrize(
    ("source", "what", "where"),
    [
        ("assert 1 == 2", "AssertionError", "train.py, line 2: assert 1 == 2"),
        (LOCAL_CLASS, "train.<locals>.Diverged: loss is nan", "in train: raise Diverged"),
        (CHAINED, "ValueError: no learning rate", "in load: raise ValueError"),
        (RECURSION, "RecursionError: maximum recursion depth exceeded", "in f: return f(n + 1)"),
        (MANY_LINES, "RuntimeError: Error(s) in loading state_dict for Net:", "train.py, line 3: raise RuntimeError"),
        (POOL, "IndexError: worker 1", "train.py, line 8, in <module>"),
        ("raise SystemError('größe €')", "SystemError: größe €", "train.py, line 2"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", "train.py, line 2: raise KeyboardInterrupt"),
        ("int('x')", "ValueError: invalid literal for int() with base 10: 'x'", "train.py, line 2: int('x')"),
    ],
    ids=["no message", "local class", "chained", "recursion", "many lines", "pool", "unicode", "interrupt", "builtin"],
)  # fmt: skip
def test_error_and_line_of_a_real_program_are_found(workdir: Path, source: str, what: str, where: str) -> None:
    cause = cause_of(workdir, source)
    assert cause.what is not None and cause.what.startswith(what)
    assert cause.where is not None and where.removesuffix(", in <module>") in cause.where


def test_note_on_an_error_is_not_taken_for_the_error(workdir: Path) -> None:
    cause = cause_of(workdir, NOTES)
    assert cause.what == "OSError: [Errno 28] No space left on device"
    assert cause.advice == "free space there, or write to another disk"


@pytest.mark.parametrize(
    ("module", "error"),
    [
        ("def f(:\n    pass\n", "SyntaxError"),
        ("def f():\npass\n", "IndentationError"),
        ("if True:\n\tx = 1\n        y = 2\n", "TabError"),
    ],
)
def test_syntax_error_of_a_module_is_at_its_own_line_with_a_way_to_check_it(
    workdir: Path, module: str, error: str
) -> None:
    cause = cause_of(workdir, "import model_def", model_def=module)
    assert cause.what is not None and cause.what.startswith(error)
    assert cause.where is not None and cause.where.startswith("model_def.py, line ")
    assert cause.likely == "Python cannot read this line"
    assert cause.advice is not None and "py_compile" in cause.advice


def test_syntax_error_of_the_script_itself_is_at_its_line(workdir: Path) -> None:
    (workdir / "train.py").write_text("x = 1\ndef f(:\n")
    words = [sys.executable, "-I", "train.py"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=workdir)
    assert "Traceback" not in done.stderr
    cause = find_cause([LogLine(line) for line in done.stderr.splitlines()], ENDED)
    assert (cause.what, cause.where) == ("SyntaxError: invalid syntax", "train.py, line 2: def f(:")


def test_root_of_a_chain_is_the_cause_with_its_line(workdir: Path) -> None:
    source = "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('bad') from e\n"
    cause = cause_of(workdir, source)
    assert (cause.what, cause.where) == ("ValueError: bad", "train.py, line 5: raise ValueError('bad') from e")
    assert cause.likely == "raised from ZeroDivisionError: division by zero (train.py, line 3: 1 / 0)"


def test_what_helps_against_the_root_of_a_chain_is_told(workdir: Path) -> None:
    source = "try:\n    import not_here\nexcept ImportError:\n    raise RuntimeError('no driver')\n"
    cause = cause_of(workdir, source)
    assert cause.likely is not None and cause.likely.startswith("raised while handling ModuleNotFoundError: ")
    assert cause.advice is not None and "pip install not_here" in cause.advice


GROUP = """
def fail():
    raise KeyError("lr")
members = []
for call in (fail, lambda: 1 / 0):
    try:
        call()
    except Exception as e:
        members.append(e)
raise ExceptionGroup("many", [ExceptionGroup("inner", members), TypeError("x")])
"""


def test_group_of_exceptions_is_told_with_the_first_of_them(workdir: Path) -> None:
    cause = cause_of(workdir, GROUP)
    assert cause.what == "ExceptionGroup: many (2 sub-exceptions)"
    assert cause.where is not None and cause.where.startswith("train.py, line 11: raise ExceptionGroup")
    assert cause.likely == "its first exception: KeyError: 'lr' (train.py, line 4, in fail: raise KeyError(\"lr\"))"


def test_group_of_exceptions_without_tracebacks_is_told_with_the_first_of_them(workdir: Path) -> None:
    cause = cause_of(workdir, "raise ExceptionGroup('many', [ValueError(1), TypeError('t')])")
    assert cause.likely == "its first exception: ValueError: 1"


def test_exception_after_a_group_that_was_handled_is_the_one(workdir: Path) -> None:
    source = (
        "try:\n    raise ExceptionGroup('g', [ValueError(1)])\nexcept* ValueError:\n    pass\nraise TypeError('later')"
    )
    cause = cause_of(workdir, f"import traceback\n{source.replace('pass', 'traceback.print_exc()')}")
    assert cause.what == "TypeError: later"


def test_module_that_is_missing_deep_below_is_at_the_line_that_asks_for_it(workdir: Path) -> None:
    cause = cause_of(workdir, "import data", data="import layers\n", layers="\nimport not_installed_here\n")
    assert cause.where == "layers.py, line 2: import not_installed_here"
    assert cause.likely is not None and "no module 'not_installed_here'" in cause.likely


def test_name_that_a_module_lacks_is_explained_by_its_version(workdir: Path) -> None:
    cause = cause_of(workdir, "from json import no_such_name")
    assert cause.likely == "'json' is installed, in a version that has no 'no_such_name' in 'json'"


def test_output_after_the_traceback_and_a_caught_one_before_it_change_nothing(workdir: Path) -> None:
    source = (
        "import traceback, atexit, sys\n"
        "atexit.register(lambda: print('loss: 0.5\\nbye', file=sys.stderr))\n"
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    traceback.print_exc()\n"
        "raise TypeError('the real one')\n"
    )
    assert cause_of(workdir, source).what == "TypeError: the real one"


def test_program_that_exits_with_words_of_its_own_is_told_by_them(workdir: Path) -> None:
    lines = ended(workdir, "import sys; sys.exit('no data')")
    assert lines == ["no data"]
    assert find_cause([LogLine(line) for line in lines], ENDED) == Cause(f"{ENDED}; last line of its stderr: no data")


def test_packages_that_were_submitted_with_the_code_are_not_the_users_own_lines() -> None:
    lines = [
        "Traceback (most recent call last):",
        '  File "/runs/1/workdir/train.py", line 3, in <module>',
        "    fit()",
        '  File "/runs/1/workdir/.venv/lib/python3.11/site-packages/torch/nn.py", line 9, in fit',
        "    raise ValueError",
        "ValueError",
    ]
    assert find_cause([LogLine(line) for line in lines], ENDED).where == "train.py, line 3: fit()"


WORKER = """Traceback (most recent call last):
  File "/runs/1/workdir/train.py", line 20, in <module>
    for batch in loader:
  File "/venv/lib/python3.11/site-packages/torch/utils/data/dataloader.py", line 708, in __next__
    data = self._next_data()
  File "/venv/lib/python3.11/site-packages/torch/_utils.py", line 750, in reraise
    raise exception
{kind}: Caught {kind} in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "/venv/lib/python3.11/site-packages/torch/utils/data/_utils/worker.py", line 351, in _worker_loop
    data = fetcher.fetch(index)  # type: ignore[possibly-undefined]
           ^^^^^^^^^^^^^^^^^^^^
  File "/runs/1/workdir/data/images.py", line 9, in __getitem__
    return load(self.paths[n])
{kind}: {text}

"""


def test_error_in_a_worker_of_a_data_loader_is_that_of_the_users_dataset() -> None:
    text = WORKER.format(kind="FileNotFoundError", text="[Errno 2] No such file or directory: '/data/1.png'")
    cause = find_cause([LogLine(line) for line in text.split("\n")], ENDED)
    assert cause.what == "FileNotFoundError: [Errno 2] No such file or directory: '/data/1.png'"
    assert cause.where == "data/images.py, line 9, in __getitem__: return load(self.paths[n])"
    assert cause.likely == "/data/1.png does not exist on the node where the task ran"


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("the entrypoint exited with status 126", "make it executable"),
        ("the entrypoint cannot be executed (exit status 126)", "make it executable"),
        ("the entrypoint exited with status 127", "not installed where the task runs"),
        ("the entrypoint was ended by SIGKILL", "lack of memory on the host"),
    ],
)
def test_end_in_the_platforms_words_has_its_advice(reason: str, words: str) -> None:
    cause = find_cause([], reason)
    assert cause.what == reason
    assert words in cause.describe()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", "lower the batch size"),
        ("RuntimeError: CUDA error: out of memory", "lower the batch size"),
        ("MemoryError", "did not give Python the memory"),
        ("numpy.core._exceptions._ArrayMemoryError: Unable to allocate 9 TiB", "did not give Python the memory"),
        ("ModuleNotFoundError: No module named 'wandb'", "pip install wandb"),
        ("OSError: [Errno 28] No space left on device: '/tmp/x'", "a disk is full"),
        ("RuntimeError: [enforce fail at inline_container.cc] . No space left on device", "a disk is full"),
        ("FileNotFoundError", "fresh copy of the submitted directory"),
    ],
)
def test_errors_of_frameworks_have_their_advice(error: str, words: str) -> None:
    lines = ["Traceback (most recent call last):", '  File "/r/workdir/t.py", line 1, in <module>', "    go()", error]
    assert words in find_cause([LogLine(line) for line in lines], ENDED).describe()


def test_explanation_is_one_line_and_names_the_tasks_python(workdir: Path) -> None:
    lines = ended(workdir, "import not_installed_here")
    told = explain([((line, None, None), "stderr") for line in lines], ENDED, python="/env/bin/python3").describe()
    assert "\n" not in told
    assert told.startswith("ModuleNotFoundError: No module named 'not_installed_here' (train.py, line 1")
    assert "install not_installed_here in /env/bin/python3, which runs the task" in told


def test_file_that_only_the_node_has_in_its_tmp_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "determined.exec.runner.failure_explanation.Path.exists", lambda path: str(path) == "/tmp/d.csv"
    )

    def told(path: str) -> str:
        lines = ["Traceback (most recent call last):", '  File "t.py", line 1, in <module>', "    open(p)"]
        lines.append(f"FileNotFoundError: [Errno 2] No such file or directory: '{path}'")
        return explain([((line, None, 0), "stderr") for line in lines], ENDED).describe()

    assert "/tmp/d.csv is in the node's /tmp" in told("/tmp/d.csv") and "bind_mounts" in told("/tmp/d.csv")
    assert "in the node's /tmp" not in told("/tmp/gone.csv")
    assert "in the node's /tmp" not in told("/data/d.csv")
