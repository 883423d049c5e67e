"""Every row of the catalogue of invalid inputs, and how violations are shown."""

from typing import Any

import pytest

from determined.config import apply_defaults, check_complete, check_sane, parse_yaml
from determined.errors import InvalidConfig

STORAGE = {"type": "shared_fs", "host_path": "/tmp"}
SINGLE = {"name": "single", "metric": "loss"}


def violations_of(raw: dict[str, Any]) -> list[str]:
    """Return what the user is told: sanity first, then completeness over a config that is otherwise whole."""
    try:
        check_sane(raw)
        whole = {"checkpoint_storage": STORAGE, "searcher": SINGLE, "entrypoint": "run", **raw}
        check_complete(apply_defaults(whole, seed=0, name="a-b-c"))
    except InvalidConfig as error:
        return error.violations
    return []


def searcher(**fields: Any) -> dict[str, Any]:
    return {"searcher": {"metric": "loss", **fields}}


def storage(**fields: Any) -> dict[str, Any]:
    return {"checkpoint_storage": fields}


def hparam(value: Any) -> dict[str, Any]:
    return {"hyperparameters": {"x": value}}


CATALOGUE: list[tuple[dict[str, Any], str]] = [
    ({"foo": 1}, "<config>: additional property `foo` not allowed"),
    ({"sercher": {}}, "<config>: additional property `sercher` not allowed; did you mean `searcher`?"),
    ({"resources": {"slots_per_tral": 1}}, "<config>.resources: additional property `slots_per_tral` not allowed; did"),
    ({"watchdog": {"silent_second": 1}}, "<config>.watchdog: additional property `silent_second` not allowed; did you"),
    ({"watchdog": {"silent_seconds": -1}}, "<config>.watchdog.silent_seconds: must be at least 0, not -1"),
    ({"preflight": "off"}, "<config>.preflight: must be one of fail, warn, skip"),
    ({"preflght": "warn"}, "did you mean `preflight`?"),
    (searcher(name="randm"), "(got 'randm'); did you mean `random`?"),
    (searcher(name="foo"), "<config>.searcher: not an object whose `name` is one of auto, single, random, grid, "),
    (searcher(), "<config>.searcher: `name` is a required property"),
    ({"searcher": {"name": "single"}}, "<config>.searcher: `metric` is a required property"),
    ({"searcher": 3}, "<config>.searcher: not an object whose `name` is one of"),
    (searcher(name="adaptive_asha", max_trials=1), "adaptive_asha requires max_time and time_metric"),
    (searcher(name="adaptive_asha", max_trials=1, max_time=3), "adaptive_asha requires max_time and time_metric"),
    (searcher(name="async_halving", max_trials=1, num_rungs=1), "async_halving requires max_time and time_metric"),
    (searcher(name="grid", max_trials=1), "additional property `max_trials` not allowed with name `grid`"),
    (searcher(name="random"), "<config>.searcher: `max_trials` is a required property"),
    (searcher(name="random", max_trials=0), "<config>.searcher.max_trials: must be at least 1, not 0"),
    (searcher(name="random", max_trials=True), "<config>.searcher.max_trials: must be an integer, not a boolean"),
    (searcher(name="random", max_trials=1, max_concurrent_trials=-1), "max_concurrent_trials: must be at least 0"),
    (searcher(name="async_halving", max_trials=1, num_rungs=1, divisor=1), "divisor: must be greater than 1, not 1"),
    (searcher(name="adaptive_asha", max_trials=1, mode="fast"), "mode: must be one of aggressive, standard, conserv"),
    (searcher(name="single", max_length={}), "max_length: a length needs exactly one of batches, records, epochs"),
    (searcher(name="single", max_length={"batches": 1, "epochs": 1}), "a length needs exactly one of"),
    (searcher(name="single", max_length={"batches": 0}), "max_length: must be at least 1, not 0"),
    (searcher(name="single", max_length=-1), "max_length: must be at least 0, not -1"),
    (searcher(name="async_halving", max_trials=1, num_rungs=1, max_length=5), "max_length: needs a unit"),
    (searcher(name="single", source_checkpoint_uuid="xyz"), "source_checkpoint_uuid: `xyz` is not a UUID"),
    (searcher(name="adaptive_simple", max_trials=2001, max_length={"batches": 1}), "must be at most 2000"),
    (searcher(name="sync_halving", num_rungs=2, max_length={"batches": 1}), "`budget` is a required property"),
    (searcher(name="pbt", population_size=1, num_rounds=1), "`length_per_round` is a required property"),
    (searcher(name="custom", unit="steps"), "unit: must be one of batches, records, epochs"),
    (hparam({str(n): n for n in range(2001)}), "hyperparameters: has 2001 hyperparameters; at most 2000 are taken"),
    (hparam({"type": "int", "minval": 3, "maxval": 3}), "hyperparameters.x: minval must be less than maxval"),
    (hparam({"type": "double", "minval": 3, "maxval": 1}), "minval must be less than maxval"),
    (hparam({"type": "foo"}), "<config>.hyperparameters.x: type must be one of int, double, log, const, categorical"),
    (hparam({"type": None}), "type must be one of"),
    (hparam({"type": ["int"]}), "type must be one of"),
    (hparam({"type": "int", "minval": 1}), "`maxval` is a required property"),
    (hparam({"type": "int", "minval": 0.5, "maxval": 3}), "x.minval: must be an integer"),
    (hparam({"type": "log", "minval": 0, "maxval": 3}), "`base` is a required property"),
    (hparam({"type": "log", "minval": 0, "maxval": 3, "base": 0}), "base: must be greater than 0"),
    (hparam({"type": "categorical", "vals": []}), "x.vals: must not be empty"),
    (hparam({"type": "const"}), "`val` is a required property"),
    (hparam({"type": "const", "val": 1, "count": 2}), "additional property `count` not allowed"),
    (hparam({"type": "int", "minval": 1, "maxval": 3, "count": 0}), "x.count: must be at least 1"),
    (hparam({"deep": {"er": {"type": "int", "minval": 1}}}), "<config>.hyperparameters.x.deep.er: `maxval`"),
    ({"hyperparameters": [1]}, "<config>.hyperparameters: must be a mapping, not a list"),
    (
        {**searcher(name="grid"), **hparam({"type": "int", "minval": 0, "maxval": 3})},
        "grid search is in use but `count`",
    ),
    ({"resources": {"priority": 0}}, "<config>.resources.priority: must be at least 1, not 0"),
    ({"resources": {"priority": 100}}, "<config>.resources.priority: must be at most 99, not 100"),
    ({"resources": {"weight": 0}}, "<config>.resources.weight: must be greater than 0, not 0"),
    ({"resources": {"slots_per_trial": -1}}, "slots_per_trial: must be at least 0"),
    ({"resources": {"slots_per_trial": 8, "max_slots": 4}}, "slots_per_trial=8 exceeds max_slots=4"),
    ({"resources": {"shm_size": "giga"}}, "<config>.resources.shm_size: 'giga' is not a size"),
    ({"resources": {"devices": ["/dev/x"]}}, "<config>.resources.devices[0]: must be a mapping, not a string"),
    ({"max_restarts": -1}, "<config>.max_restarts: must be at least 0, not -1"),
    ({"max_restarts": "5"}, "<config>.max_restarts: must be an integer, not a string"),
    ({"workspace": "w"}, "`workspace` and `project` must both be given"),
    ({"project": "p"}, "`workspace` and `project` must both be given"),
    (storage(type="s3", bucket="b", prefix="../x"), "<config>.checkpoint_storage.prefix: prefix must not be"),
    (storage(type="gcs", bucket="b", prefix="a/../b"), "prefix must not be"),
    (storage(type="shared_fs"), "<config>.checkpoint_storage: `host_path` is a required property"),
    (storage(type="shared_fs", host_path="/a", storage_path="../b"), "storage_path: must be a subdirectory"),
    (storage(type="shared_fs", host_path="/a", storage_path="/b"), "storage_path: must be a subdirectory"),
    (storage(type="shared_fs", host_path="/a", save_trial_best=-1), "save_trial_best: must be at least 0"),
    (storage(type="ftp"), "not an object whose `type` is one of shared_fs, directory, s3, gcs, azure"),
    (
        storage(type="azure", container="c", connection_string="a", account_url="b"),
        "give exactly one of connection_string",
    ),
    (storage(type="azure", container="c"), "give exactly one of connection_string"),
    (storage(type="azure", container="c", connection_string="a", credential="x"), "credential goes with account_url"),
    (
        {"bind_mounts": [{"host_path": "a", "container_path": "b"}]},
        "bind_mounts[0].host_path: host_path must be absolute",
    ),
    ({"bind_mounts": [{"host_path": "/a", "container_path": "."}]}, 'container_path must not be "."'),
    ({"bind_mounts": [{"host_path": "/a"}]}, "<config>.bind_mounts[0]: `container_path` is a required property"),
    ({"optimizations": {"mixed_precision": 1}}, "mixed_precision: must be a string starting with the letter O"),
    ({"optimizations": {"mixed_precision": "01"}}, "must be a string starting with the letter O"),
    ({"profiling": {"begin_on_batch": 3, "end_after_batch": 2}}, "begin_on_batch must be less than end_after_batch"),
    ({"checkpoint_policy": "some"}, "<config>.checkpoint_policy: must be one of best, all, none, not `some`"),
    ({"retention_policy": {}}, "<config>.retention_policy: `log_retention_days` is a required property"),
    ({"retention_policy": {"log_retention_days": 32768}}, "must be at most 32767"),
    ({"retention_policy": {"log_retention_days": -2}}, "must be at least -1"),
    ({"log_policies": [{"pattern": "x"}]}, "log_policies[0]: needs a `name`, or (the older form) both"),
    ({"log_policies": [{"name": "a"}, {"name": "a"}]}, "<config>.log_policies: the name `a` is given to more than one"),
    ({"log_policies": [{"name": "a", "pattern": "("}]}, "log_policies[0].pattern: `(` is not an RE2 pattern: missing"),
    ({"log_policies": [{"name": "a", "pattern": "(?=x)"}]}, "is not an RE2 pattern"),
    ({"log_policies": [{"name": "a", "action": "explode"}]}, "action: must be one of cancel_retries, exclude_node"),
    ({"internal": {}}, "<config>.internal: must be null"),
    ({"version": 1}, "<config>.version: invalid version 1"),
    ({"entrypoint": ""}, "<config>.entrypoint: must not be empty"),
    ({"entrypoint": []}, "<config>.entrypoint: must not be empty"),
    ({"entrypoint": {"a": 1}}, "<config>.entrypoint: must be a string or a list of strings, not a mapping"),
    ({"entrypoint": ["a", 1]}, "<config>.entrypoint[1]: must be a string, not an integer"),
    ({"entrypoint": "a", "entrypoint_script": "b"}, "give either `entrypoint` or `entrypoint_script`"),
    ({"launch_layer": "b"}, "`launch_layer` needs an `entrypoint_script`"),
    ({"environment": {"environment_variables": ["=x"]}}, "environment_variables.cpu[0]: `=x` has no variable name"),
    ({"environment": {"environment_variables": {"A": "b"}}}, "additional property `A` not allowed"),
    ({"environment": {"proxy_ports": [{}]}}, "proxy_ports[0]: `proxy_port` is a required property"),
    ({"environment": {"ports": {"x": 70000}}}, "<config>.environment.ports.x: must be at most 65535"),
    (
        {"environment": {"pod_spec": {"metadata": {"name": "x"}}}},
        "pod_spec.metadata: `name` of a pod is not configurable",
    ),
    ({"reproducibility": {"experiment_seed": -1}}, "experiment_seed: must be at least 0"),
    ({"min_validation_period": {"batches": -1}}, "min_validation_period: must be at least 0"),
    ({"min_validation_period": {"minutes": 1}}, "a length needs exactly one of"),
    ({"integrations": {"pachyderm": {"pachd": {}}}}, "<config>.integrations.pachyderm.pachd: `host` is a required"),
    ({"slurm": {"slots_per_node": 0}}, "<config>.slurm.slots_per_node: must be at least 1"),
    ({"data": []}, "<config>.data: must be a mapping, not a list"),
    ({"data": {"x": float("nan")}}, "<config>.data.x: nan cannot be stored"),
    ({"description": "a\0b"}, "<config>.description: contains a NUL"),
    (hparam(2**70), "<config>.hyperparameters.x: does not fit in 64 bits"),
    (hparam({"type": "double", "minval": 0, "maxval": 10**400}), "<config>.hyperparameters.x.maxval: does not fit in"),
    (hparam({"type": "double", "minval": -(10**400), "maxval": 0}), "lie too far apart for a number; narrow them"),
    (hparam({"type": "log", "minval": 0, "maxval": 1, "base": 10**400}), "x.base: does not fit in 64 bits"),
    ({"watchdog": {"silent_seconds": 10**400}}, "<config>.watchdog.silent_seconds: does not fit in 64 bits"),
    (searcher(name="single", max_steps=2**62), "does not fit in 64 bits"),
    ({"data": {"when": {1, 2}}}, "<config>.data.when: a set cannot be stored"),
    ({"labels": [1]}, "<config>.labels[0]: must be a string"),
    (searcher(name="single", max_steps="x"), "<config>.searcher.max_steps: must be an integer"),
]


@pytest.mark.parametrize(("raw", "message"), CATALOGUE, ids=[f"{i}-{m[:50]}" for i, (_, m) in enumerate(CATALOGUE)])
def test_invalid_input_is_refused_at_its_path(raw: dict[str, Any], message: str) -> None:
    found = violations_of(raw)
    assert any(message in violation for violation in found), found


def test_all_violations_come_at_once_sorted_under_one_headline() -> None:
    raw = {"zeta": 1, "max_restarts": -1, "searcher": {"name": "grid", "max_trials": 2}, "bind_mounts": [{"x": 1}]}
    with pytest.raises(InvalidConfig) as caught:
        check_sane(raw)
    lines = caught.value.message.splitlines()
    assert lines[0] == "invalid experiment configuration: config is invalid"
    assert lines[1:] == sorted(lines[1:]) == caught.value.violations
    assert len(lines) == 5


def test_missing_sections_are_named_together() -> None:
    with pytest.raises(InvalidConfig, match="config is invalid or incomplete") as caught:
        check_complete(apply_defaults({}, seed=0, name="a-b-c"))
    assert caught.value.violations == [
        "<config>: `checkpoint_storage` is a required property",
        "<config>: `searcher` is a required property",
    ]


def test_one_layer_may_be_partial() -> None:
    check_sane({"searcher": {"metric": "loss"}, "checkpoint_storage": {"save_trial_best": 3}})
    check_sane({"searcher": {"max_trials": 3}, "checkpoint_storage": {"type": "s3"}, "bind_mounts": [{}]})
    check_sane({"searcher": {"name": "adaptive_asha"}})


def test_null_means_unset_everywhere() -> None:
    check_sane({"searcher": None, "max_restarts": None, "resources": {"priority": None}, "foo": None})


@pytest.mark.parametrize("raw", [None, [], "x", 3])
def test_what_is_no_mapping_is_refused(raw: Any) -> None:
    with pytest.raises(InvalidConfig, match="must be a mapping"):
        check_sane(raw)


def test_a_key_of_an_older_generation_is_never_suggested() -> None:
    assert violations_of({"launch_layr": "x"}) == ["<config>: additional property `launch_layr` not allowed"]


def _violations(text: str) -> list[str]:
    with pytest.raises(InvalidConfig) as refused:
        check_sane(parse_yaml(text), whole=True)
    return refused.value.violations


def test_a_key_that_stands_too_high_is_told_where_it_belongs() -> None:
    text = "entrypoint: x\nmax_length: 5\nslots_per_trial: 2\nsearcher: {name: single, metric: x}\n"
    assert _violations(text) == [
        "<config>: additional property `max_length` not allowed; it belongs under `searcher`",
        "<config>: additional property `slots_per_trial` not allowed; it belongs under `resources`",
    ]


def test_what_is_missing_is_told_together_with_what_is_wrong() -> None:
    text = "searcher: {name: adaptive_asha, metric: x}\nhyperparameters: {lr: {type: log, minval: 1, maxval: 3}}\n"
    found = _violations(text)
    assert "<config>.hyperparameters.lr: `base` is a required property" in found
    assert "<config>.searcher: `max_trials` is a required property" in found
    assert any("requires max_time and time_metric" in violation for violation in found)
