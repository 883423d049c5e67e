"""The merge algebra, row by row."""

from typing import Any

import pytest

from determined.config import canonicalize, merge, merge_task_container_defaults, overlay_container_defaults


def merged(high: dict[str, Any], low: dict[str, Any]) -> dict[str, Any]:
    return merge(canonicalize(high), canonicalize(low))


ROWS: list[tuple[str, Any, Any, Any]] = [
    ("max_restarts", 1, 2, 1),
    ("max_restarts", None, 2, 2),
    ("max_restarts", 0, 2, 0),
    ("debug", False, True, False),
    ("resources", {"weight": 2}, {"weight": 3, "priority": 4}, {"weight": 2, "priority": 4}),
    ("data", {"a": {"b": 1}}, {"a": {"b": 2, "c": 3}, "d": 4}, {"a": {"b": 1, "c": 3}, "d": 4}),
    ("data", {"a": 1}, {"a": {"b": 2}}, {"a": 1}),
    ("data", {"a": {"b": 2}}, {"a": 1}, {"a": {"b": 2}}),
    ("entrypoint", ["a", "b"], ["c"], ["a", "b"]),
    ("entrypoint", "a", ["c"], "a"),
    ("labels", ["a", "b"], ["b", "c"], ["a", "b", "c"]),
    ("labels", {"a": True}, ["c"], ["a", "c"]),
    ("labels", [], ["c"], ["c"]),
    ("min_validation_period", {"epochs": 1}, {"batches": 5}, {"epochs": 1}),
    ("slurm", {"sbatch_args": ["a"]}, {"sbatch_args": ["b"], "gpu_type": "t"}, {"sbatch_args": ["a"], "gpu_type": "t"}),
    (
        "log_policies",
        [{"name": "a", "pattern": "1"}, {"pattern": "p", "action": "cancel_retries"}],
        [{"name": "a", "pattern": "2"}, {"name": "b"}, {"pattern": "p", "action": {"type": "cancel_retries"}}],
        [{"name": "a", "pattern": "1"}, {"pattern": "p", "action": "cancel_retries"}, {"name": "b"}],
    ),
]


@pytest.mark.parametrize(("key", "high", "low", "result"), ROWS)
def test_high_over_low(key: str, high: Any, low: Any, result: Any) -> None:
    assert merged({key: high}, {key: low}) == {key: result}


def mount(target: str, host: str = "/h") -> dict[str, Any]:
    return {"host_path": host, "container_path": target}


def test_mounts_of_low_are_added_where_high_has_no_such_target() -> None:
    result = merged(
        {"bind_mounts": [mount("a"), mount("a")]}, {"bind_mounts": [mount("a", "/x"), mount("b"), mount("b")]}
    )
    assert result["bind_mounts"] == [mount("a"), mount("a"), mount("b"), mount("b")]


def test_an_empty_list_cannot_remove_a_templates_mounts() -> None:
    assert merged({"bind_mounts": []}, {"bind_mounts": [mount("a")]})["bind_mounts"] == [mount("a")]


def test_devices_and_proxy_ports_merge_by_their_keys() -> None:
    high = {"resources": {"devices": ["/d:/a"]}, "environment": {"proxy_ports": [{"proxy_port": 1, "proxy_tcp": True}]}}
    low = {
        "resources": {"devices": ["/e:/a", "/e:/b"]},
        "environment": {"proxy_ports": [{"proxy_port": 1}, {"proxy_port": 2}]},
    }
    result = merged(high, low)
    assert [d["host_path"] for d in result["resources"]["devices"]] == ["/d", "/e"]
    assert result["environment"]["proxy_ports"] == [{"proxy_port": 1, "proxy_tcp": True}, {"proxy_port": 2}]


def test_variables_concatenate_low_first_so_that_high_wins_in_the_process() -> None:
    result = merged(
        {"environment": {"environment_variables": {"cpu": ["A=high"]}}},
        {"environment": {"environment_variables": ["A=low", "B=low"]}},
    )
    variables = result["environment"]["environment_variables"]
    assert variables["cpu"] == ["A=low", "B=low", "A=high"]
    assert variables["cuda"] == ["A=low", "B=low"]


def test_image_merges_by_device_and_registry_login_as_a_whole() -> None:
    result = merged(
        {"environment": {"image": {"gpu": "g"}, "registry_auth": {"username": "u"}}},
        {"environment": {"image": "all", "registry_auth": {"username": "x", "password": "p"}}},
    )
    assert result["environment"]["image"] == {"cpu": "all", "cuda": "g", "rocm": "all"}
    assert result["environment"]["registry_auth"] == {"username": "u"}


def test_pod_specs_merge_as_a_strategic_patch() -> None:
    def spec(**container: Any) -> dict[str, Any]:
        return {"environment": {"pod_spec": {"spec": {"containers": [{"name": "c", **container}], "tolerations": [1]}}}}

    low = spec(env=[{"name": "A", "value": "1"}, {"name": "B", "value": "1"}], resources={"limits": {"cpu": 1}})
    high = spec(env=[{"name": "A", "value": "2"}, {"name": "B", "$patch": "delete"}, {"name": "C", "value": "3"}])
    high["environment"]["pod_spec"]["spec"]["tolerations"] = [2]
    result = merged(high, low)["environment"]["pod_spec"]["spec"]
    assert result["tolerations"] == [2]
    assert result["containers"] == [
        {
            "name": "c",
            "env": [{"name": "A", "value": "2"}, {"name": "C", "value": "3"}],
            "resources": {"limits": {"cpu": 1}},
        }
    ]


def test_a_hyperparameter_is_replaced_whole_unless_both_are_groups() -> None:
    high = {"hyperparameters": {"lr": 1, "group": {"a": 1}, "kind": {"b": 2}}}
    low = {
        "hyperparameters": {
            "lr": {"type": "int", "minval": 1, "maxval": 2},
            "group": {"a": {"type": "categorical", "vals": [1]}, "z": 9},
            "kind": 5,
        }
    }
    assert merged(high, low)["hyperparameters"] == {
        "lr": {"type": "const", "val": 1},
        "group": {"a": {"type": "const", "val": 1}, "z": {"type": "const", "val": 9}},
        "kind": {"b": {"type": "const", "val": 2}},
    }


def test_a_constant_null_hyperparameter_is_a_value() -> None:
    result = merged({"hyperparameters": {"lr": None}}, {"hyperparameters": {"lr": 1}})
    assert result["hyperparameters"]["lr"] == {"type": "const", "val": None}


def test_another_searcher_discards_the_templates_fields_but_keeps_its_metric() -> None:
    template = {"searcher": {"name": "random", "metric": "loss", "max_trials": 9, "smaller_is_better": False}}
    result = merged({"searcher": {"name": "single"}}, template)
    assert result["searcher"] == {"name": "single", "metric": "loss", "smaller_is_better": False}


def test_the_same_searcher_or_an_untagged_one_keeps_the_templates_fields() -> None:
    template = {"searcher": {"name": "random", "metric": "loss", "max_trials": 9}}
    assert merged({"searcher": {"name": "random"}}, template)["searcher"] == template["searcher"]
    assert merged({"searcher": {"max_trials": 2}}, template)["searcher"] == {**template["searcher"], "max_trials": 2}


def test_another_kind_of_storage_keeps_only_how_many_to_save() -> None:
    low = {"checkpoint_storage": {"type": "s3", "bucket": "b", "save_trial_best": 7}}
    result = merged({"checkpoint_storage": {"type": "gcs", "bucket": "c"}}, low)
    assert result["checkpoint_storage"] == {"type": "gcs", "bucket": "c", "save_trial_best": 7}


def test_azure_credentials_come_as_a_block() -> None:
    low = {"type": "azure", "container": "c", "account_url": "u", "credential": "secret"}
    by_string = {"type": "azure", "connection_string": "s"}
    assert merged({"checkpoint_storage": by_string}, {"checkpoint_storage": low})["checkpoint_storage"] == {
        "type": "azure",
        "container": "c",
        "connection_string": "s",
    }
    container_only = {"type": "azure", "container": "d"}
    kept = merged({"checkpoint_storage": container_only}, {"checkpoint_storage": low})["checkpoint_storage"]
    assert kept == {**low, "container": "d"}


def test_neither_layer_is_changed() -> None:
    high, low = {"data": {"a": {"b": 1}}, "labels": ["x"]}, {"data": {"a": {"c": 1}}, "labels": ["y"]}
    merge(high, low)
    assert high == {"data": {"a": {"b": 1}}, "labels": ["x"]}
    assert low == {"data": {"a": {"c": 1}}, "labels": ["y"]}


def test_container_defaults_go_under_the_experiment() -> None:
    defaults = {
        "image": "img",
        "environment_variables": ["A=tcd"],
        "shm_size_bytes": 5,
        "bind_mounts": [mount("a", "/tcd"), mount("b", "/tcd")],
        "devices": ["/d:/d"],
        "add_capabilities": ["X"],
        "preemption_timeout": 60,
        "log_policies": [{"name": "p", "pattern": "x"}],
        "slurm": {"sbatch_args": ["tcd"]},
        "startup_hook": "not an experiment's business",
        "cpu_pod_spec": {"kind": "cpu"},
        "gpu_pod_spec": {"kind": "gpu"},
    }
    config = canonicalize(
        {
            "bind_mounts": [mount("a")],
            "slurm": {"sbatch_args": ["mine"]},
            "environment": {"environment_variables": ["A=mine"]},
        }
    )
    result = merge_task_container_defaults(config, defaults)
    assert result["environment"]["image"]["cpu"] == "img"
    assert result["environment"]["environment_variables"]["cpu"] == ["A=tcd", "A=mine"]
    assert result["environment"]["add_capabilities"] == ["X"]
    assert result["environment"]["pod_spec"] == {"kind": "gpu"}
    assert result["resources"]["shm_size"] == 5
    assert result["resources"]["devices"] == [{"host_path": "/d", "container_path": "/d"}]
    assert result["bind_mounts"] == [mount("a"), mount("b", "/tcd")]
    assert result["slurm"]["sbatch_args"] == ["tcd", "mine"]
    assert result["preemption_timeout"] == 60
    assert result["log_policies"] == [{"name": "p", "pattern": "x"}]
    assert "startup_hook" not in result


def test_a_task_without_slots_gets_the_cpu_pod_spec() -> None:
    defaults = {"cpu_pod_spec": {"kind": "cpu"}, "gpu_pod_spec": {"kind": "gpu"}}
    result = merge_task_container_defaults({"resources": {"slots_per_trial": 0}}, defaults)
    assert result["environment"]["pod_spec"] == {"kind": "cpu"}


def test_a_pools_defaults_override_the_clusters_only_where_they_say_something() -> None:
    cluster = {
        "shm_size_bytes": 1,
        "network_mode": "host",
        "environment_variables": ["A=cluster", "B=cluster"],
        "add_capabilities": ["X"],
        "gpu_pod_spec": {"a": 1},
        "bind_mounts": [mount("a", "/c"), mount("b", "/c")],
        "slurm": {"sbatch_args": ["cluster"]},
        "log_policies": [{"name": "p", "pattern": "cluster"}],
    }
    pool = {
        "shm_size_bytes": 2,
        "environment_variables": ["A=pool"],
        "add_capabilities": ["Y"],
        "gpu_pod_spec": {"b": 2},
        "bind_mounts": [mount("a", "/p")],
        "slurm": {"sbatch_args": ["pool"]},
        "log_policies": [{"name": "p", "pattern": "pool"}],
    }
    result = overlay_container_defaults(pool, cluster)
    assert result["shm_size_bytes"] == 2
    assert result["network_mode"] == "host"
    assert result["environment_variables"]["cpu"] == ["B=cluster", "A=pool"]
    assert sorted(result["add_capabilities"]) == ["X", "Y"]
    assert result["gpu_pod_spec"] == {"b": 2}
    assert result["bind_mounts"] == [mount("a", "/p"), mount("b", "/c")]
    assert result["slurm"]["sbatch_args"] == ["pool", "cluster"]
    assert result["log_policies"] == [{"name": "p", "pattern": "pool"}]
    assert overlay_container_defaults(None, None) == {}
