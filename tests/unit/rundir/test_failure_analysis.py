"""The cause of a failed task, found in its last lines."""

from typing import Any

import pytest

from determined.rundir.failure_analysis import LogLine, find_cause
from determined.rundir.failure_cause import Cause
from determined.rundir.failure_rules import Circumstances

RUN = "/var/lib/det/runs/0f03/workdir"


def task(*lines: str, rank: int | None = None) -> list[LogLine]:
    return [LogLine(line, rank) for line in lines]


def cause_of(lines: list[LogLine], ended: str = "the entrypoint exited with status 1", **known: Any) -> Cause:
    return find_cause(lines, ended, Circumstances(**known))


def traceback(file: str, line: int, code: str, error: str, *, function: str = "<module>") -> list[str]:
    return ["Traceback (most recent call last):", f'  File "{file}", line {line}, in {function}', f"    {code}", error]


MISSING = traceback(f"{RUN}/pkg/data.py", 7, "import numpi", "ModuleNotFoundError: No module named 'numpi'")


def test_a_missing_module_is_named_with_the_users_line_and_what_to_install() -> None:
    cause = cause_of(task("hello", *MISSING))
    assert cause.what == "ModuleNotFoundError: No module named 'numpi'"
    assert cause.where == "pkg/data.py, line 7: import numpi"
    assert cause.likely is not None and "no module 'numpi'" in cause.likely
    assert cause.advice is not None and "install numpi" in cause.advice


def test_the_interpreter_of_the_task_is_named_where_it_is_known() -> None:
    cause = cause_of(task(*MISSING), python="/venv/bin/python")
    assert cause.advice is not None and "install numpi in /venv/bin/python" in cause.advice


@pytest.mark.parametrize(
    ("module", "installed"),
    [("sklearn", "scikit-learn"), ("cv2", "opencv-python-headless"), ("yaml", "pyyaml"), ("hydra", "hydra-core")],
)
def test_a_module_that_the_index_has_under_another_name_is_installed_by_that_name(module: str, installed: str) -> None:
    error = f"ModuleNotFoundError: No module named '{module}'"
    cause = cause_of(task(*traceback(f"{RUN}/t.py", 1, f"import {module}", error)))
    assert cause.likely is not None and f"no module '{module}'" in cause.likely
    assert cause.advice is not None and f"`pip install {installed}`" in cause.advice


@pytest.mark.parametrize("module", ["determined", "determined_common", "redetermined"])
def test_upstreams_distribution_is_never_advised(module: str) -> None:
    """It has our name on the index: a script that another Python than the task's starts may lack ours."""
    error = f"ModuleNotFoundError: No module named '{module}'"
    cause = cause_of(task(*traceback(f"{RUN}/t.py", 1, f"import {module}", error)), python="/venv/bin/python")
    assert cause.likely is not None and f"no module '{module}'" in cause.likely
    assert cause.advice is not None and "pip install" not in cause.advice
    assert "start the script with `python3`" in cause.advice


@pytest.mark.parametrize(
    ("error", "name"),
    [
        ("ModuleNotFoundError: No module named 'determined.pytorch.gone'", "determined.pytorch.gone"),
        ("ImportError: cannot import name 'Gone' from 'determined.pytorch' (/venv/x.py)", "determined.pytorch.Gone"),
    ],
)
def test_no_other_release_of_determined_is_to_be_pinned(error: str, name: str) -> None:
    """The node's own is used whatever the requirements say."""
    cause = cause_of(task(*traceback(f"{RUN}/t.py", 1, "import x", error)))
    assert cause.likely == f"this release of determined has no '{name}'"
    assert cause.advice is not None and "pin" not in cause.advice


def test_part_that_an_installed_framework_lacks_is_not_called_a_missing_framework() -> None:
    error = "ModuleNotFoundError: No module named 'tensorflow.python.other'"
    cause = cause_of(task(*traceback(f"{RUN}/t.py", 1, "import x", error)))
    assert cause.likely == "'tensorflow' is installed, in a version that has no 'tensorflow.python.other'"
    error = "ImportError: cannot import name 'Foo' from 'transformers.bar' (/venv/x.py)"
    cause = cause_of(task(*traceback(f"{RUN}/t.py", 1, "from transformers.bar import Foo", error)))
    assert cause.likely == "'transformers' is installed, in a version that has no 'Foo' in 'transformers.bar'"
    assert cause.advice is not None and "pin in environment.python" in cause.advice


def test_a_name_that_a_library_is_known_to_have_removed_is_told_with_its_release_and_a_pin() -> None:
    error = "AttributeError: module 'numpy' has no attribute 'float'."
    cause = cause_of(task(*traceback(f"{RUN}/t.py", 1, "x = np.float(1)", error)))
    assert cause.likely == "numpy.float is gone since NumPy 1.24"
    assert cause.advice is not None and "pin `numpy==1.23.5` in environment.python" in cause.advice


def test_the_innermost_line_of_the_users_own_code_is_named_not_that_of_a_library() -> None:
    lines = [
        "Traceback (most recent call last):",
        f'  File "{RUN}/train.py", line 3, in <module>',
        "    fit()",
        f'  File "{RUN}/train.py", line 12, in fit',
        "    torch.load(path)",
        '  File "/venv/lib/python3.11/site-packages/torch/serialization.py", line 900, in load',
        "    with open(path) as f:",
        "    ^^^^^^^^^^",
        "FileNotFoundError: [Errno 2] No such file or directory: 'weights.pt'",
    ]
    cause = cause_of(task(*lines))
    assert cause.where == "train.py, line 12, in fit: torch.load(path)"
    assert cause.likely is not None and "fresh copy" in cause.likely


def test_of_several_ranks_the_first_that_failed_is_named() -> None:
    first, second = (traceback(f"{RUN}/t.py", n, "go()", f"ValueError: rank {n}") for n in (1, 2))
    mixed = [line for pair in zip(task(*second, rank=1), task(*first, rank=0), strict=True) for line in pair]
    assert cause_of(mixed).what == "ValueError: rank 2"


def test_an_end_without_output_is_told_in_the_platforms_words() -> None:
    ended = "nosuch: the entrypoint was not found (exit status 127)"
    cause = cause_of([], ended)
    assert cause.what == ended
    assert cause.likely is not None and "not installed" in cause.likely


def test_what_a_user_writes_into_an_exception_is_not_taken_for_the_platforms_words() -> None:
    for text in ("the key was not found", "worker ended with status 127", "No such file or directory"):
        cause = cause_of(task(*traceback(f"{RUN}/t.py", 1, "go()", f"ValueError: {text}")))
        assert (cause.what, cause.likely, cause.advice) == (f"ValueError: {text}", None, None)


def test_an_end_before_the_entrypoint_is_not_blamed_on_it() -> None:
    hook = "a startup hook failed with status 127; the entrypoint was not started"
    cause = cause_of(task("hook.sh: line 1: nothing: command not found"), hook)
    assert cause.what is not None and cause.what.startswith(hook) and cause.where == "hook.sh, line 1"
    assert cause.likely is not None and "startup-hook.sh" in cause.likely and "entrypoint" not in cause.likely


def test_a_script_that_was_not_submitted_is_named() -> None:
    said = f"python3: can't open file '{RUN}/tarin.py': [Errno 2] No such file or directory"
    cause = cause_of(task(said), "the entrypoint exited with status 2")
    assert cause.what == "Python finds no file tarin.py"
    assert cause.advice is not None and "correct `entrypoint`" in cause.advice


def test_a_traceback_that_was_handled_before_the_last_one_is_not_the_cause() -> None:
    last = traceback(f"{RUN}/t.py", 9, "raise KeyError('lr')", "KeyError: 'lr'")
    cause = cause_of(
        task(*MISSING, "", "During handling of the above exception, another exception occurred:", "", *last)
    )
    assert (cause.what, cause.where) == ("KeyError: 'lr'", "t.py, line 9: raise KeyError('lr')")


def test_a_syntax_error_names_the_file_without_a_function() -> None:
    lines = ["Traceback (most recent call last):", f'  File "{RUN}/t.py", line 4', "    def f(:", "          ^"]
    cause = cause_of(task(*lines, "SyntaxError: invalid syntax"))
    assert cause.where == "t.py, line 4: def f(:"


def test_an_empty_log_has_no_cause_but_the_end() -> None:
    assert cause_of([]) == Cause("the entrypoint exited with status 1")


def test_an_absolute_path_that_is_missing_is_not_answered_with_use_an_absolute_path() -> None:
    error = "FileNotFoundError: [Errno 2] No such file or directory: '/data/train.csv'"
    cause = cause_of(task(*traceback(f"{RUN}/t.py", 1, "open(path)", error)))
    assert cause.likely == "/data/train.csv does not exist on the node where the task ran"
    assert cause.advice is not None and "absolute" not in cause.advice


def test_argparse_is_quoted_with_where_to_correct_it() -> None:
    error = "train.py: error: the following arguments are required: --data"
    cause = cause_of(task("usage: train.py [-h] --data DATA", error), "the entrypoint exited with status 2")
    assert (cause.what, cause.advice) == (error, "correct the arguments in `entrypoint`")


def test_last_line_of_stderr_is_told_and_marked_as_such() -> None:
    lines = [LogLine("loading", is_stderr=False), *task("no GPU here", "", " 50%|#### | 1/2 [00:01<00:01]")]
    cause = cause_of([*lines, LogLine("bye", is_stderr=False)])
    assert cause == Cause("the entrypoint exited with status 1; last line of its stderr: no GPU here")


def test_last_line_of_stdout_is_told_where_stderr_is_empty() -> None:
    cause = cause_of([LogLine("no data", is_stderr=False)], "the entrypoint exited with status 4")
    assert cause.what == "the entrypoint exited with status 4; last line of its stdout: no data"


def test_our_own_explanation_of_an_entrypoint_is_taken_over() -> None:
    said = "entrypoint model_def:Foo: there is no module model_def in the context directory"
    cause = cause_of([LogLine(said, level="ERROR"), *task("bye")])
    assert cause.what == said
    assert cause.advice is not None and "correct `entrypoint`" in cause.advice
    lacks = LogLine("entrypoint m:A needs torch; pip install 'redetermined[pytorch]'", level="ERROR")
    assert cause_of([lacks]).advice == "pip install 'redetermined[pytorch]'"


def test_module_that_python_is_to_run_and_does_not_have_is_named() -> None:
    cause = cause_of(task("/venv/bin/python3: No module named trian"))
    assert cause.what == "Python finds no module trian"
    assert cause.advice is not None and cause.advice.startswith("correct `entrypoint`, or install trian in ")


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGKILL"])
def test_signals_of_crashes_have_a_cause_and_a_fix(name: str) -> None:
    cause = cause_of([], f"the entrypoint was ended by {name}")
    assert cause.likely and cause.advice


def test_words_of_a_shell_about_a_signal_are_not_quoted() -> None:
    lines = task("terminate called", "  what():  no context", "Aborted (core dumped)")
    cause = cause_of(lines, "the entrypoint was ended by SIGABRT")
    assert cause.what == "the entrypoint was ended by SIGABRT; last line of its stderr: what():  no context"


def test_stack_of_the_fault_handler_is_the_place_of_a_crash() -> None:
    dump = [
        "Fatal Python error: Segmentation fault",
        "",
        "Current thread 0x00007fcbfac75b80 (most recent call first):",
        '  File "/usr/lib/python3.11/ctypes/__init__.py", line 519 in string_at',
        f'  File "{RUN}/train.py", line 2 in <module>',
        "",
        "Extension modules: numpy (total: 1)",
    ]
    cause = cause_of(task(*dump), "the entrypoint was ended by SIGSEGV")
    assert (cause.what, cause.where) == ("the entrypoint was ended by SIGSEGV", "train.py, line 2")
    assert cause.advice == "change or reinstall the library that this line calls"


def test_name_that_an_own_file_lacks_is_not_blamed_on_a_version() -> None:
    error = f"ImportError: cannot import name 'nothing' from 'pkg.m' ({RUN}/pkg/m.py)"
    cause = cause_of(task(*traceback(f"{RUN}/t.py", 1, "from pkg.m import nothing", error)))
    assert cause.likely == "pkg/m.py is your own, and defines no 'nothing'"
    assert cause.advice is not None and "pin" not in cause.advice


def test_module_that_an_own_package_lacks_is_not_blamed_on_a_version() -> None:
    lines = task(*traceback(f"{RUN}/t.py", 1, "import pkg.x", "ModuleNotFoundError: No module named 'pkg.x'"))
    own = cause_of(lines, own=frozenset(["pkg"])).likely
    assert own is not None and "'pkg' is your own" in own and "has no 'pkg.x'" in own
    assert "is installed, in a version" in (cause_of(lines).likely or "")


def test_memory_error_is_not_called_a_killed_process() -> None:
    likely = cause_of(task(*traceback(f"{RUN}/t.py", 1, "raise MemoryError()", "MemoryError"))).likely
    assert likely is not None and "memory" in likely and "killed" not in likely


def test_output_between_the_lines_of_a_traceback_does_not_hide_it() -> None:
    noise = LogLine("loss: 0.5", is_stderr=False)
    lines = [part for line in task(*MISSING) for part in (line, noise)]
    assert cause_of(lines).where == "pkg/data.py, line 7: import numpi"
