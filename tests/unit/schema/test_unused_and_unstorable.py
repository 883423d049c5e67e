"""Keys without effect, values that cannot be stored, and paths that others cannot look up."""

import math
import subprocess
from typing import Any

import pytest

from determined.config.experiment_schema import EXPERIMENT
from determined.engines import registry
from determined.schema.paths import path_problem
from determined.schema.storable import MAX_DEPTH, find_unstorable
from determined.schema.unused import unused_keys, unused_remarks


def unused(config: dict[str, Any], engine: str = "agent") -> list[str]:
    return [path for path, _, _ in unused_keys(EXPERIMENT, config, registry.traits(engine))]


@pytest.mark.parametrize(
    ("config", "engine", "paths"),
    [
        ({"environment": {"image": "x"}}, "agent", ["environment.image"]),
        ({"environment": {"image": "x"}}, "docker", []),
        ({"environment": {"image": {"cpu": None, "cuda": ""}}}, "agent", []),
        ({"environment": {"force_pull_image": False}}, "agent", []),
        ({"environment": {"force_pull_image": True}}, "agent", ["environment.force_pull_image"]),
        (
            {"bind_mounts": [{"propagation": "rprivate"}, {"propagation": "shared"}]},
            "agent",
            ["bind_mounts[1].propagation"],
        ),
        ({"slurm": {"gpu_type": "a"}}, "slurm", []),
        ({"slurm": {"gpu_type": "a"}}, "ray", ["slurm"]),
        ({"pbs": {"slots_per_node": 1}}, "slurm", ["pbs"]),
        ({"pbs": {}, "slurm": None, "unknown": 5, "environment": "oops"}, "agent", []),
        ({"profiling": {"enabled": True, "sync_timings": False}}, "agent", ["profiling.sync_timings"]),
        ({"resources": {"shm_size": "4g", "weight": 2}}, "agent", ["resources.shm_size"]),
    ],
)
def test_a_key_is_named_where_nothing_reads_it(config: dict[str, Any], engine: str, paths: list[str]) -> None:
    assert unused(config, engine) == paths


def test_remarks_gather_keys_of_the_same_kind_and_say_who_would_honour_them() -> None:
    config = {
        "environment": {"image": "x", "ports": {"a": 1}},
        "slurm": {"gpu_type": "g"},
        "pbs": {"slots_per_node": 2},
    }
    assert unused_remarks(EXPERIMENT, config, registry.traits("agent")) == [
        "environment.image, environment.ports: not used, tasks run as plain processes here; "
        "the docker engine honours them",
        "slurm: not used here; only the slurm engine honours it",
        "pbs: accepted, but has no effect",
    ]


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "where", "reason"),
    [
        ({"a": ["x", "b\0"]}, "at.a[1]", "contains a NUL or half a surrogate pair"),
        ({"a": "\udc80"}, "at.a", "contains a NUL or half a surrogate pair"),
        ({"a\0": 1}, "at", "contains a NUL or half a surrogate pair"),
        ([math.inf], "at[0]", "inf cannot be stored; write a finite number or a string"),
        ([-math.inf], "at[0]", "-inf cannot be stored; write a finite number or a string"),
        (2**64, "at", "does not fit in 64 bits"),
        (-(2**63) - 1, "at", "does not fit in 64 bits"),
        (b"x", "at", "a bytes cannot be stored; write a string, number, list or mapping"),
        ({"a": (1, 2)}, "at.a", "a tuple cannot be stored; write a string, number, list or mapping"),
        (nested(MAX_DEPTH + 1), "at" + "[0]" * MAX_DEPTH, f"is nested deeper than {MAX_DEPTH} levels"),
    ],
)  # fmt: skip
def test_a_value_that_no_database_holds_is_named_with_its_place(value: Any, where: str, reason: str) -> None:
    [(place, said)] = list(find_unstorable(value, "at"))
    assert place == where
    assert said.startswith(reason)


@pytest.mark.parametrize(
    "value", [None, True, "", "ö\U0001f600", 2**64 - 1, -(2**63), 1e308, nested(MAX_DEPTH), {}, []]
)
def test_anything_else_is_stored(value: Any) -> None:
    assert list(find_unstorable(value, "at")) == []


def test_every_value_that_cannot_be_stored_is_named() -> None:
    found = [where for where, _ in find_unstorable({"a": math.nan, "b": [1, {"c": 2**70, "d": "fine"}]}, "at")]
    assert found == ["at.a", "at.b[1].c"]


@pytest.mark.parametrize("path", ["/", "/a/../b", "/with space"])
def test_an_absolute_path_has_no_problem(path: str) -> None:
    assert path_problem(path) is None


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("", "must be absolute, not ``: a task runs in a directory that is deleted with it"),
        ("data", "write what `realpath -m data` prints, in a place that every node sees"),
        ("my data; rm -rf x", "write what `realpath -m 'my data; rm -rf x'` prints"),
        ("~", "`~` is not expanded here; write what `echo ~` prints"),
        ("~ada/my data", "write what `echo ~ada/'my data'` prints"),
        ("$HOME/x", 'variables are not expanded here; write what `echo "$HOME/x"` prints'),
        ("${HOME}", 'write what `echo "${HOME}"` prints'),
        ("$(rm -rf x)", "write what `realpath -m '$(rm -rf x)'` prints"),
        ("$HOME/$(id)", "write what `realpath -m '$HOME/$(id)'` prints"),
    ],
)
def test_a_path_that_others_cannot_look_up_is_refused_with_a_command_to_find_it(path: str, words: str) -> None:
    assert words in (path_problem(path) or "")


HOSTILE = ["a'b", "$(touch ran)", "`touch ran`", "x; touch ran", "~/$(touch ran)", "~$(touch ran)", "~;touch ran;/x"]


@pytest.mark.parametrize("path", HOSTILE)
def test_the_command_of_the_message_runs_nothing_that_the_path_holds(path: str, tmp_path: Any) -> None:
    command = (path_problem(path) or "").split("write what `", 1)[1].rsplit("` prints", 1)[0]
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=False, capture_output=True)
    assert list(tmp_path.iterdir()) == []
