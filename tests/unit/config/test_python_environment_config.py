"""`environment.python`: what it may say, and the text of the files it names."""

from typing import Any

import pytest

from determined.config import ExperimentConfig, apply_defaults, check_sane, merge
from determined.config.experiment import find_violations
from determined.config.python_environment import PythonEnvironment
from determined.config.requirement_lines import (
    editable_entries,
    entries,
    find_links,
    included_files,
    index_options,
    local_paths,
    unpinned_entries,
    with_logins,
    without_logins,
)
from determined.errors import InvalidConfig


def config(python: Any) -> dict[str, Any]:
    return {"environment": {"python": python}}


@pytest.mark.parametrize(
    ("python", "expected"),
    [
        ({"requirements": "requirements.txt"}, PythonEnvironment(requirements="requirements.txt")),
        ({"requirements": ["numpy==2.3.0", "x"]}, PythonEnvironment(requirements=("numpy==2.3.0", "x"))),
        (
            {"lock": "env/requirements.lock", "version": "3.12"},
            PythonEnvironment(lock="env/requirements.lock", version="3.12"),
        ),
        (
            {"requirements": "pyproject.toml", "version": "3.11.9"},
            PythonEnvironment(requirements="pyproject.toml", version="3.11.9"),
        ),
        (None, None),
    ],
)
def test_it_becomes_typed_data(python: Any, expected: PythonEnvironment | None) -> None:
    check_sane(config(python))
    searcher = {"name": "single", "metric": "x", "max_length": {"batches": 1}}
    storage = {"type": "shared_fs", "host_path": "/c"}
    active = apply_defaults({**config(python), "searcher": searcher, "checkpoint_storage": storage}, seed=0, name="n")
    assert ExperimentConfig.load(active).environment.python == expected


@pytest.mark.parametrize(
    ("python", "reason"),
    [
        ({"requirements": "a.txt", "lock": "b.txt"}, "`requirements` and `lock` exclude each other"),
        ({"requirements": "/etc/requirements.txt"}, "must be a file of the context directory"),
        ({"lock": "../b.txt"}, "must be a file of the context directory"),
        ({"requirements": ""}, "must be a file of the context directory"),
        ({"requirements": "env/uv.lock"}, "`env/uv.lock` is a lock; give it as `lock`"),
        ({"requirements": "pylock.dev.toml"}, "`pylock.dev.toml` is a lock; give it as `lock`"),
        ({"requirements": "packages.toml"}, "only a pyproject.toml has requirements"),
        ({"requirements": "environment.yml"}, "the file of another tool, which is not read"),
        ({"lock": "poetry.lock"}, "the file of another tool, which is not read"),
        (
            {"lock": "pyproject.toml"},
            "`pyproject.toml` is no lock; give it as `requirements`, or the uv.lock beside it",
        ),
        ({"lock": "lock.toml"}, "a lock in TOML is named pylock.toml or pylock.NAME.toml"),
        ({"requirements": 3}, "must be a file name or a list of requirement lines, not"),
        ({"requirements": []}, "must not be empty"),
        ({"requirements": ["a\nb"]}, "one requirement per entry"),
        ({"requirements": ["a", " "]}, "an empty line"),
        ({"requirements": "a.txt", "version": 3.10}, "must be a string, not the number 3.1; put the version in quotes"),
        ({"requirements": "a.txt", "version": "3.9"}, "Python 3.9 is too old"),
        ({"requirements": "a.txt", "version": "latest"}, "`latest` is no Python version"),
        ({"requirments": "a.txt"}, "did you mean `requirements`?"),
        ("requirements.txt", "must be a mapping, not a string; write `requirements:` or `lock:` before it"),
        (["numpy"], "must be a mapping, not a list; write `requirements:` or `lock:` before it"),
    ],
)
def test_what_cannot_be_meant_is_refused(python: Any, reason: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        check_sane(config(python))
    [violation] = refused.value.violations
    assert violation.startswith("<config>.environment.python")
    assert reason in violation


def test_a_version_alone_is_too_little_in_the_end() -> None:
    check_sane(config({"version": "3.12"}))
    found = [v for v in find_violations(config({"version": "3.12"}), complete=True) if ".python" in v]
    assert found == ["<config>.environment.python: `requirements` or `lock` is needed: a file of the context directory"]


def test_a_lock_of_ones_own_replaces_the_requirements_of_a_template() -> None:
    merged = merge(config({"lock": "mine.txt"}), config({"requirements": "theirs.txt", "version": "3.12"}))
    assert merged["environment"]["python"] == {"lock": "mine.txt"}


TEXT = """\
# a comment
--extra-index-url https://example.org/simple
-f ./wheels
-r more.txt
-c limits.txt   # and this
numpy==2.3.0 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
torch>=2 ; python_version > "3"
pkg[extra]==1.0; sys_platform == "linux"
./own/gamma-1.0-py3-none-any.whl
delta @ file:///there/delta.whl
epsilon @ https://example.org/epsilon-1.0.whl
zeta===1.0+local
eta==1.*
-e .
"""


def test_entries_join_lines_and_drop_comments() -> None:
    assert list(entries(TEXT))[4] == "numpy==2.3.0      --hash=sha256:aa      --hash=sha256:bb"
    assert not any("#" in entry for entry in entries(TEXT))


def test_each_kind_of_line_is_found() -> None:
    assert index_options(TEXT) == ["--extra-index-url https://example.org/simple", "-f ./wheels"]
    assert find_links(TEXT) == ["./wheels"]
    assert included_files(TEXT) == ["more.txt", "limits.txt"]
    assert local_paths(TEXT) == ["./own/gamma-1.0-py3-none-any.whl", "file:///there/delta.whl"]
    assert editable_entries(TEXT) == ["-e ."]


def test_only_what_has_several_versions_is_unpinned() -> None:
    assert unpinned_entries(TEXT) == ['torch>=2 ; python_version > "3"', "eta==1.*"]


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        (".", "."),
        (".[dev]", "."),
        ("./pkg[a,b] ; python_version > '3'", "./pkg"),
        ("wheels/gamma-1.0-py3-none-any.whl", "wheels/gamma-1.0-py3-none-any.whl"),
        ("gamma-1.0-py3-none-any.whl --hash=sha256:aa", "gamma-1.0-py3-none-any.whl"),
        ("gamma[x] @ file:///there/gamma.whl#sha256=aa", "file:///there/gamma.whl"),
    ],
)
def test_a_package_that_is_named_by_its_place_is_local_and_pinned(entry: str, place: str) -> None:
    assert local_paths(entry) == [place]
    assert unpinned_entries(entry) == []


@pytest.mark.parametrize("entry", ["https://h/x-1.0.whl", "x@https://h/x.whl", "git+https://me@h/x.git@main"])
def test_an_address_is_pinned_and_not_local(entry: str) -> None:
    assert local_paths(entry) == []
    assert unpinned_entries(entry) == []


def test_logins_leave_a_text_and_come_back() -> None:
    source = "--extra-index-url https://me:pass@h/simple\nx @ https://token@h/x.whl#sha256=aa\n"
    bare = "--extra-index-url https://h/simple\nx @ https://h/x.whl#sha256=aa\n"
    assert without_logins(source) == bare
    assert with_logins(bare, source) == source
    assert without_logins("at https://me:pass@h/simple", "****@") == "at https://****@h/simple"


@pytest.mark.parametrize("text", ["-i https://${NAME}:${TOKEN}@h/simple", "x @ git+ssh://git@h/x.git", "https://h/a@b"])
def test_what_is_no_secret_stays(text: str) -> None:
    assert without_logins(text) == text
