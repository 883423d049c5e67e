"""The pipeline from a submitted config to an active one."""

import random
from typing import Any

import pytest

from determined.config import ExperimentConfig, Prepared, generation, prepare, random_name
from determined.engines import registry
from determined.errors import InvalidConfig

USER = {"entrypoint": "python3 train.py", "searcher": {"name": "single", "metric": "loss"}}
MASTER_STORAGE = {"type": "shared_fs", "host_path": "/master", "storage_path": "cp", "save_trial_best": 9}


def prepared(user: dict[str, Any] | None = None, **layers: Any) -> Prepared:
    defaults: dict[str, Any] = {
        "template": None,
        "pool_tcd": None,
        "cluster_tcd": None,
        "workspace_storage": None,
        "master_storage": MASTER_STORAGE,
        "default_priority": 42,
        "invariants": [],
        "seed": 7,
        "name": "calm-azure-heron",
        "managed": True,
    }
    return prepare(USER if user is None else user, **{**defaults, **layers})


def test_a_minimal_config_gets_every_default() -> None:
    result = prepared()
    config = result.config
    assert config.name == "Experiment (calm-azure-heron)"
    assert config.reproducibility.experiment_seed == 7
    assert (config.resources.slots_per_trial, config.resources.priority, config.resources.weight) == (1, 42, 1)
    assert (config.max_restarts, config.checkpoint_policy, config.preemption_timeout) == (5, "best", 3600)
    assert config.checkpoint_storage.raw["host_path"] == "/master"
    assert config.checkpoint_storage.save_trial_best == 9
    assert [policy.name for policy in config.log_policies] == ["CUDA OOM", "ECC Error"]
    assert result.warnings == []


def test_the_active_config_shows_unset_fields_as_null() -> None:
    active = prepared().active
    assert active["description"] is None
    assert active["searcher"]["source_trial_id"] is None
    assert active["resources"]["max_slots"] is None
    assert active["min_validation_period"] == {"batches": 0}
    assert active["optimizations"]["mixed_precision"] == "O0"
    assert active["environment"]["environment_variables"] == {"cpu": [], "cuda": [], "rocm": []}


def test_an_active_config_reads_back_as_the_same_typed_config() -> None:
    result = prepared({**USER, "hyperparameters": {"a": 1}, "labels": ["x"]})
    assert ExperimentConfig.load(result.active) == result.config


def test_an_active_config_may_be_submitted_again() -> None:
    first = prepared({**USER, "hyperparameters": {"lr": None, "g": {"x": [1]}}})
    assert prepared(first.active, seed=99, name="other-other-other").active == first.active


def test_layers_win_in_order() -> None:
    user = {**USER, "max_restarts": 1}
    template = {"max_restarts": 2, "description": "template", "preemption_timeout": 10}
    result = prepared(
        user,
        template=template,
        pool_tcd={"preemption_timeout": 20, "shm_size_bytes": 5},
        cluster_tcd={"preemption_timeout": 30, "shm_size_bytes": 6, "add_capabilities": ["X"]},
        invariants=[{"description": "workspace", "debug": True}, {"description": "global"}],
    ).config
    assert result.max_restarts == 1
    assert result.preemption_timeout == 10
    assert result.resources.shm_size == 5
    assert result.environment.add_capabilities == ("X",)
    assert (result.description, result.debug) == ("global", True)


def test_workspace_storage_goes_before_the_masters() -> None:
    config = prepared(workspace_storage={"type": "s3", "bucket": "b"}).config
    assert config.checkpoint_storage.raw["bucket"] == "b"
    assert config.checkpoint_storage.save_trial_best == 9
    own = prepared({**USER, "checkpoint_storage": {"save_trial_best": 2}}).config
    assert (own.checkpoint_storage.save_trial_best, own.checkpoint_storage.raw["host_path"]) == (2, "/master")


def test_invariant_mounts_are_added_not_replacing() -> None:
    mine = {"host_path": "/a", "container_path": "a"}
    policy = {"host_path": "/b", "container_path": "b"}
    config = prepared({**USER, "bind_mounts": [mine]}, invariants=[{"bind_mounts": [policy]}]).config
    assert [mount.host_path for mount in config.bind_mounts] == ["/b", "/a"]


def test_a_default_policy_is_switched_off_by_its_bare_name() -> None:
    policies = prepared({**USER, "log_policies": [{"name": "CUDA OOM"}]}).config.log_policies
    assert [(policy.name, policy.pattern is None) for policy in policies] == [("CUDA OOM", True), ("ECC Error", False)]


def test_a_given_priority_is_kept() -> None:
    assert prepared({**USER, "resources": {"priority": 7}}).config.resources.priority == 7


def test_slots_is_a_jobs_key_and_has_no_effect_in_an_experiment() -> None:
    found = prepared({**USER, "resources": {"slots": 8, "slots_per_trial": 2}})
    assert found.config.resources.slots_per_trial == 2 and "slots" not in found.active["resources"]
    assert [text for text in found.warnings if "resources.slots" in text] == [
        "resources.slots has no effect in an experiment; each trial gets resources.slots_per_trial=2"
    ]


def test_a_template_shared_with_jobs_may_hold_slots() -> None:
    config = prepared(template={"resources": {"slots": 4, "weight": 2}})
    assert config.config.resources.slots_per_trial == 1
    assert "slots" not in config.active["resources"]


def test_a_bad_template_is_named_as_such() -> None:
    with pytest.raises(InvalidConfig, match="the template is not a valid"):
        prepared(template={"serchr": 1})


def test_managed_experiments_need_an_entrypoint_and_all_gaps_come_at_once() -> None:
    with pytest.raises(InvalidConfig) as caught:
        prepared({}, master_storage=None)
    assert caught.value.violations == [
        "<config>: `checkpoint_storage` is a required property",
        "<config>: `searcher` is a required property",
        "<config>: managed experiments require `entrypoint`",
    ]
    assert prepared({"searcher": USER["searcher"]}, managed=False).config.entrypoint is None


def test_a_template_may_bring_the_entrypoint() -> None:
    assert prepared({"searcher": USER["searcher"]}, template={"entrypoint": ["x"]}).config.entrypoint == ["x"]


def test_what_has_no_effect_is_said() -> None:
    user = {
        **USER,
        "security": {"kerberos": 1},
        "resources": {"agent_label": "x"},
        "hyperparameters": {"g": {"lr": {"type": "double", "minval": 0, "maxval": 1}}},
        "searcher": {**USER["searcher"], "source_trial_id": 1, "source_checkpoint_uuid": "0" * 32},  # type: ignore[dict-item]
    }
    assert prepared(user).warnings == [
        "security, resources.agent_label: accepted, but has no effect",
        "both source_trial_id and source_checkpoint_uuid are set; source_trial_id is used",
        "`hyperparameters.g.lr` is sampled once: the searcher is `single`",
    ]


def test_each_key_that_the_engine_does_not_honour_is_named_at_submit() -> None:
    user = {
        **USER,
        "pbs": {"slots_per_node": 2},
        "slurm": {"gpu_type": "a100"},
        "environment": {
            "image": "i",
            "proxy_ports": [{"proxy_port": 80}],
            "pod_spec": {"spec": {"nodeName": "n"}},
            "ports": {},
        },
        "optimizations": {"grad_updates_size_file": "f", "aggregation_frequency": 2},
        "integrations": {"webhooks": {"webhook_id": [1]}},
        "profiling": {"enabled": True, "begin_on_batch": 3, "sync_timings": True},
        "resources": {"shm_size": "1g"},
    }

    def told(engine: str) -> set[str]:
        return {line.rpartition(": ")[0] for line in prepared(user, engine=registry.traits(engine)).warnings}

    nowhere = "pbs, environment.pod_spec, optimizations.grad_updates_size_file, profiling.begin_on_batch"
    assert told("agent") == {nowhere, "environment.image, resources.shm_size", "slurm"}
    assert told("slurm") == {nowhere, "environment.image, resources.shm_size"}
    assert told("docker") == {nowhere, "slurm"}


def test_a_length_of_no_effect_on_the_search_is_said() -> None:
    searcher = {
        "name": "adaptive_asha",
        "metric": "m",
        "max_trials": 2,
        "time_metric": "t",
        "max_time": 3,
        "max_length": 5,
    }
    result = prepared({**USER, "searcher": searcher})
    assert generation(result.active) == "late"
    assert len(result.warnings) == 1 and "max_length" in result.warnings[0]


def test_names_are_three_words_and_repeat_with_the_seed() -> None:
    names = {random_name(random.Random(seed)) for seed in range(50)}
    assert len(names) > 45
    assert all(len(name.split("-")) == 3 for name in names)
    assert random_name(random.Random(3)) == random_name(random.Random(3))


def test_secrets_do_not_show_in_the_typed_configs_repr() -> None:
    user = {
        **USER,
        "checkpoint_storage": {"type": "s3", "bucket": "b", "secret_key": "hush1"},
        "environment": {"registry_auth": {"password": "hush2"}},
        "data": {"secrets": {"a": "hush3"}},
    }
    assert "hush" not in repr(prepared(user).config)
