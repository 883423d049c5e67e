"""Templates: what tasks take of one, what is wrong with one, and what of a merged config comes from it."""

from typing import Any

import pytest

from determined.config.job import GenericTaskConfig, JobConfig, prepare_generic_task, prepare_job
from determined.config.pipeline import from_template, lay_over_template
from determined.config.templates import check_storable, find_problems, part_for_task
from determined.errors import InvalidConfig

USER = {"entrypoint": "python3 train.py", "searcher": {"name": "single", "metric": "loss"}}


def part(template: dict[str, Any], kind: Any = JobConfig, *, has_program: bool = False) -> dict[str, Any]:
    return part_for_task(kind, template, has_program=has_program)


def test_a_task_leaves_out_what_only_experiments_have_at_every_depth() -> None:
    template = {
        "searcher": {"name": "single"},
        "description": "shared",
        "resources": {"slots_per_trial": 8, "agent_label": "x", "priority": 7, "is_single_node": True},
        "environment": {"unheard_of": 1, "environment_variables": ["A=1"]},
    }
    found = part(template)
    assert found["description"] == "shared" and "searcher" not in found
    assert found["resources"] == {"priority": 7}
    assert found["environment"]["environment_variables"]["cpu"] == ["A=1"]
    assert "unheard_of" not in found["environment"]


def test_slots_and_pool_of_a_template_are_not_those_of_a_task() -> None:
    resources = {"slots": 100, "resource_pool": "p", "weight": 2, "max_slots": 3}
    assert part({"resources": resources})["resources"] == {"weight": 2, "max_slots": 3}
    kept = part({"resources": {"is_single_node": False, "slots": 9}}, GenericTaskConfig)
    assert kept["resources"] == {"is_single_node": False}


def test_an_entrypoint_is_for_tasks_without_a_program_of_their_own() -> None:
    assert part({"entrypoint": "python3 train.py"})["entrypoint"] == ["python3 train.py"]
    assert part({"entrypoint": ["a", "b"]})["entrypoint"] == ["a", "b"]
    assert "entrypoint" not in part({"entrypoint": "python3 train.py"}, has_program=True)


@pytest.mark.parametrize("template", [{"environment": 5}, {"resources": {"weight": "heavy"}}, {"bind_mounts": "x"}])
def test_a_wrong_type_is_refused_and_the_template_blamed(template: dict[str, Any]) -> None:
    with pytest.raises(InvalidConfig, match="the template is not a valid task configuration"):
        part(template)


def test_lists_of_a_task_merge_as_those_of_experiments_do() -> None:
    mounts = [{"host_path": "/a", "container_path": "x"}, {"host_path": "/b", "container_path": "y"}]
    low = part({"bind_mounts": mounts, "environment": {"environment_variables": ["A=template"]}})
    config = prepare_job(
        {
            "bind_mounts": [{"host_path": "/mine", "container_path": "x"}],
            "environment": {"environment_variables": ["A=mine"]},
        },
        template=low,
        container_defaults={},
        default_priority=42,
        has_context=False,
    )
    assert [mount.host_path for mount in config.bind_mounts] == ["/mine", "/b"]
    assert config.environment.environment_variables.of("cpu") == ["A=template", "A=mine"]


def test_a_generic_task_is_laid_over_its_template() -> None:
    low = part({"entrypoint": ["a"], "preemption_timeout": 5, "description": "x"}, GenericTaskConfig)
    config = prepare_generic_task({}, template=low, container_defaults={}, default_priority=42, has_context=False)
    assert (config.entrypoint, config.preemption_timeout) == (("a",), 5)


def test_files_of_the_request_win_over_the_work_dir_of_a_template() -> None:
    low = part({"work_dir": "/w"})
    layers: dict[str, Any] = {"template": low, "container_defaults": {}, "default_priority": 42}
    assert prepare_job({}, has_context=True, **layers).work_dir is None
    assert prepare_job({}, has_context=False, **layers).work_dir == "/w"


def test_both_layers_are_checked_and_the_users_wins() -> None:
    merged = lay_over_template({**USER, "labels": ["mine"]}, {"labels": ["shared"], "max_restarts": 3})
    assert merged["labels"] == ["mine", "shared"] and merged["max_restarts"] == 3
    assert lay_over_template(USER, None)["entrypoint"] == "python3 train.py"
    with pytest.raises(InvalidConfig, match="the template is not a valid experiment configuration"):
        lay_over_template(USER, {"idle_timeout": "1h"})


def test_what_comes_from_the_template_is_listed_by_its_place() -> None:
    user = {**USER, "max_restarts": 1, "labels": ["mine"], "resources": {"priority": 3}}
    template = {
        "max_restarts": 5,
        "labels": ["shared"],
        "resources": {"priority": 3, "weight": 2},
        "searcher": {"name": "random", "max_trials": 9, "smaller_is_better": False},
        "hyperparameters": {"lr": 0.1},
        "bind_mounts": [{"host_path": "/a", "container_path": "b"}],
        "environment": {"image": "i", "environment_variables": ["A=1"]},
        "data": {},
        "description": None,
    }
    assert sorted(from_template(user, template)) == [
        "bind_mounts",
        "environment.environment_variables",
        "environment.image",
        "hyperparameters.lr",
        "labels",
        "resources.weight",
        "searcher.smaller_is_better",
    ]


def test_problems_of_a_template_are_those_of_either_kind_of_config() -> None:
    assert find_problems({"resources": {"slots": 4}, "searcher": {"metric": "x"}}) == ([], [])
    violations, for_tasks = find_problems({"idle_timeout": "1h", "serchr": 1, "max_restarts": "many"})
    assert for_tasks == ["idle_timeout"]
    assert len(violations) == 2 and all("idle_timeout" not in one for one in violations)
    violations, _ = find_problems({"idle_timeout": 90})
    assert "is not a duration" in violations[0]


def test_what_no_database_can_keep_is_refused_and_anything_else_is_not() -> None:
    check_storable({"nonsense": [{"a": None}], "resources": "x"})
    deep: Any = 1
    for _ in range(200):
        deep = {"a": deep}
    for config in ({"a": "\0"}, {"a": 2**70}, {"a": deep}, {"a": float("nan")}):
        with pytest.raises(InvalidConfig):
            check_storable(config)
