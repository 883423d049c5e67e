"""The cause of a failed trial, read from the end of its log."""

import pytest

from determined.rundir.failure_cause import LogLine, find_cause

RUN = "/var/lib/det/runs/0f03/workdir"


def task(*lines: str, rank: int | None = None) -> list[LogLine]:
    return [LogLine(line, "task", ("c1", rank)) for line in lines]


def master(*lines: str) -> list[LogLine]:
    return [LogLine(line, "master") for line in lines]


def traceback(file: str, line: int, code: str, error: str, *, function: str = "<module>") -> list[str]:
    return ["Traceback (most recent call last):", f'  File "{file}", line {line}, in {function}', f"    {code}", error]


MISSING = traceback(f"{RUN}/pkg/data.py", 7, "import numpi", "ModuleNotFoundError: No module named 'numpi'")
STARTED = "started on node slots [0]"


def test_a_missing_module_is_named_with_the_users_line_and_what_to_install() -> None:
    cause = find_cause([*master(STARTED), *task("hello", *MISSING), *master("allocation ended (errored): status 1")])
    assert cause.what == "ModuleNotFoundError: No module named 'numpi'"
    assert cause.where == "pkg/data.py, line 7: import numpi"
    assert cause.likely is not None and "no module 'numpi'" in cause.likely
    assert cause.advice is not None and "install numpi" in cause.advice


def test_the_interpreter_of_the_task_is_named_where_it_is_known() -> None:
    cause = find_cause(task(*MISSING), python="/venv/bin/python")
    assert cause.advice is not None and "install numpi in /venv/bin/python" in cause.advice


@pytest.mark.parametrize(
    ("module", "installed"),
    [("sklearn", "scikit-learn"), ("cv2", "opencv-python-headless"), ("yaml", "pyyaml"), ("hydra", "hydra-core")],
)
def test_a_module_that_the_index_has_under_another_name_is_installed_by_that_name(module: str, installed: str) -> None:
    error = f"ModuleNotFoundError: No module named '{module}'"
    cause = find_cause(task(*traceback(f"{RUN}/t.py", 1, f"import {module}", error)))
    assert cause.likely is not None and f"no module '{module}'" in cause.likely
    assert cause.advice is not None and f"`pip install {installed}`" in cause.advice


@pytest.mark.parametrize("module", ["determined", "determined_common", "redetermined"])
def test_upstreams_distribution_is_never_advised(module: str) -> None:
    """It has our name on the index: a script that another Python than the task's starts may lack ours."""
    error = f"ModuleNotFoundError: No module named '{module}'"
    cause = find_cause(task(*traceback(f"{RUN}/t.py", 1, f"import {module}", error)), python="/venv/bin/python")
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
    cause = find_cause(task(*traceback(f"{RUN}/t.py", 1, "import x", error)))
    assert cause.likely == f"this release of determined has no '{name}'"
    assert cause.advice is not None and "pin" not in cause.advice


def test_part_that_an_installed_framework_lacks_is_not_called_a_missing_framework() -> None:
    error = "ModuleNotFoundError: No module named 'tensorflow.python.other'"
    cause = find_cause(task(*traceback(f"{RUN}/t.py", 1, "import x", error)))
    assert cause.likely == "'tensorflow' is installed, in a version that has no 'tensorflow.python.other'"
    error = "ImportError: cannot import name 'Foo' from 'transformers.bar' (/venv/x.py)"
    cause = find_cause(task(*traceback(f"{RUN}/t.py", 1, "from transformers.bar import Foo", error)))
    assert cause.likely == "'transformers' is installed, in a version that has no 'Foo' in 'transformers.bar'"
    assert cause.advice is not None and "pin in environment.python" in cause.advice


def test_a_name_that_a_library_is_known_to_have_removed_is_told_with_its_release_and_a_pin() -> None:
    error = "AttributeError: module 'numpy' has no attribute 'float'."
    cause = find_cause(task(*traceback(f"{RUN}/t.py", 1, "x = np.float(1)", error)))
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
    cause = find_cause(task(*lines))
    assert cause.where == "train.py, line 12, in fit: torch.load(path)"
    assert cause.likely is not None and "fresh copy" in cause.likely


def test_of_several_ranks_the_first_that_failed_is_named() -> None:
    first, second = (traceback(f"{RUN}/t.py", n, "go()", f"ValueError: rank {n}") for n in (1, 2))
    mixed = [line for pair in zip(task(*second, rank=1), task(*first, rank=0), strict=True) for line in pair]
    assert find_cause(mixed).what == "ValueError: rank 2"


def test_only_the_last_run_counts() -> None:
    later = traceback(f"{RUN}/t.py", 5, "go()", "ValueError: later")
    log = [*master(STARTED), *task(*MISSING), *master(STARTED), *task(*later)]
    assert find_cause(log).what == "ValueError: later"


def test_an_end_without_a_traceback_is_told_in_the_platforms_words() -> None:
    ended = "allocation ended (errored): node 0 (vm): the entrypoint was not found (exit status 127)"
    cause = find_cause([*master(STARTED), *master(ended)])
    assert cause.what == "the entrypoint was not found (exit status 127)"
    assert cause.advice is not None and "entrypoint" in cause.advice


def test_what_a_user_writes_into_an_exception_is_not_taken_for_the_platforms_words() -> None:
    for text in ("the key was not found", "worker ended with status 127", "No such file or directory"):
        cause = find_cause(task(*traceback(f"{RUN}/t.py", 1, "go()", f"ValueError: {text}")))
        assert (cause.what, cause.likely, cause.advice) == (f"ValueError: {text}", None, None)


def test_an_end_before_the_entrypoint_is_not_blamed_on_it() -> None:
    hook = "a startup hook failed with status 127; the entrypoint was not started"
    cause = find_cause(master(STARTED, f"allocation ended (errored): node 0 (vm): {hook}"))
    assert cause.what == hook
    assert cause.likely is not None and "startup-hook.sh" in cause.likely and "entrypoint" not in cause.likely
    storage = "checkpoint storage does not work: [Errno 2] No such file or directory: '/x'; fix checkpoint_storage"
    cause = find_cause(master(STARTED, f"allocation ended (errored): node 0 (vm): {storage}"))
    assert (cause.what, cause.likely) == (storage, None)
    memory = "out of memory on the host: the kernel ended a process of this task's cgroup"
    cause = find_cause(master(STARTED, f"allocation ended (errored): node 0 (vm): {memory}"))
    assert cause.likely is not None and "accelerator" not in cause.likely


def test_a_script_that_was_not_submitted_is_named() -> None:
    said = f"python3: can't open file '{RUN}/tarin.py': [Errno 2] No such file or directory"
    ended = "allocation ended (errored): node 0 (vm): the entrypoint exited with status 2"
    cause = find_cause([*master(STARTED), *task(said), *master(ended)])
    assert cause.what == "Python finds no file tarin.py"
    assert cause.advice is not None and "correct `entrypoint`" in cause.advice


def test_a_traceback_that_was_handled_before_the_last_one_is_not_the_cause() -> None:
    last = traceback(f"{RUN}/t.py", 9, "raise KeyError('lr')", "KeyError: 'lr'")
    cause = find_cause(
        task(*MISSING, "", "During handling of the above exception, another exception occurred:", "", *last)
    )
    assert (cause.what, cause.where) == ("KeyError: 'lr'", "t.py, line 9: raise KeyError('lr')")


def test_a_syntax_error_names_the_file_without_a_function() -> None:
    lines = ["Traceback (most recent call last):", f'  File "{RUN}/t.py", line 4', "    def f(:", "          ^"]
    cause = find_cause(task(*lines, "SyntaxError: invalid syntax"))
    assert cause.where == "t.py, line 4: def f(:"


def test_an_empty_log_has_no_cause() -> None:
    assert find_cause([]).what is None


def test_an_absolute_path_that_is_missing_is_not_answered_with_use_an_absolute_path() -> None:
    error = "FileNotFoundError: [Errno 2] No such file or directory: '/data/train.csv'"
    cause = find_cause(task(*traceback(f"{RUN}/t.py", 1, "open(path)", error)))
    assert cause.likely == "/data/train.csv does not exist on the node where the task ran"
    assert cause.advice is not None and "absolute" not in cause.advice
