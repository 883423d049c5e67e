"""Laws that hold for any config: merging, canonical form, defaults, masking, and no crash on garbage."""

import json
from copy import deepcopy
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from determined.config import (
    ExperimentConfig,
    apply_defaults,
    canonicalize,
    check_sane,
    dump_yaml,
    mask_secrets,
    merge,
    parse_yaml,
)
from determined.config.experiment import find_violations
from determined.config.experiment_schema import EXPERIMENT
from determined.config.published import json_schema
from determined.errors import DeterminedError, InvalidConfig

# The same examples everywhere, and no deadline: the machine that runs this may be busy.
LAW = settings(deadline=None, derandomize=True, max_examples=100, suppress_health_check=[HealthCheck.too_slow])

PUBLISHED = Draft202012Validator(json_schema("experiment"))

NAMES = st.sampled_from(["a", "b", "c", "lr"])
SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["x", "y"])
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3))


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A mapping with any part of these keys."""
    return st.fixed_dictionaries({}, optional=fields)


LEAVES = SCALARS | st.just({"type": "int", "minval": 0, "maxval": 3}) | st.just({"type": "categorical", "vals": [1, 2]})
HPARAMS = st.dictionaries(
    NAMES, st.recursive(LEAVES, lambda inner: st.dictionaries(NAMES, inner, max_size=2)), max_size=3
)
MOUNTS = st.lists(
    st.builds(lambda t, h: {"container_path": t, "host_path": h}, NAMES, st.sampled_from(["/1", "/2"])), max_size=3
)
ENTRIES = st.lists(st.sampled_from(["A=1", "A=2", "B=1"]), max_size=2)
POLICIES = st.lists(
    st.fixed_dictionaries({"name": NAMES}, optional={"pattern": st.just("x")}),
    max_size=2,
    unique_by=lambda p: p["name"],
)
COUNTS = st.integers(1, 9)
LENGTHS = st.builds(lambda unit, n: {unit: n}, st.sampled_from(["batches", "epochs"]), COUNTS)
SEARCHERS = st.one_of(
    some(metric=NAMES, smaller_is_better=st.booleans()).map(lambda s: {"name": "single", **s}),
    some(metric=NAMES, max_trials=COUNTS, max_length=LENGTHS).map(lambda s: {"name": "random", **s}),
    some(max_length=LENGTHS, max_concurrent_trials=COUNTS).map(lambda s: {"name": "grid", **s}),
    some(max_steps=COUNTS).map(lambda s: {"name": "single", **s}),
)
STORAGES = st.one_of(
    some(access_key=st.just("SECRET1"), secret_key=st.just("SECRET2"), bucket=NAMES).map(lambda s: {"type": "s3", **s}),
    some(host_path=st.just("/h"), save_trial_best=COUNTS).map(lambda s: {"type": "shared_fs", **s}),
    some(container=NAMES, connection_string=st.just("SECRET3")).map(lambda s: {"type": "azure", **s}),
)
LAYERS = some(
    name=NAMES,
    max_restarts=COUNTS | st.none(),
    labels=st.lists(NAMES, max_size=3) | st.dictionaries(NAMES, st.just(True), max_size=2),
    data=st.dictionaries(NAMES, JSON, max_size=3),
    hyperparameters=HPARAMS,
    searcher=SEARCHERS,
    checkpoint_storage=STORAGES,
    bind_mounts=MOUNTS,
    log_policies=POLICIES,
    batches_per_step=COUNTS,
    min_validation_period=COUNTS | LENGTHS,
    entrypoint=st.sampled_from(["x", ["y", "z"]]),
    environment=some(
        image=NAMES | some(gpu=NAMES, cpu=NAMES),
        environment_variables=ENTRIES | some(gpu=ENTRIES, cpu=ENTRIES),
        registry_auth=some(username=NAMES, password=st.just("SECRET4")),
    ),
    resources=some(
        priority=COUNTS, shm_size=st.sampled_from([1, "4g"]), devices=st.lists(st.just("/a:/b"), max_size=1)
    ),
    slurm=some(sbatch_args=ENTRIES),
)
# No key changes its kind between layers: there, and only there, grouping cannot matter (a leaf between two groups, or
# another searcher between two equal ones, hides what lies below it from what lies above).
STEADY = some(
    name=NAMES,
    max_restarts=COUNTS | st.none(),
    labels=st.lists(NAMES, max_size=3),
    data=some(a=SCALARS, b=some(c=SCALARS, d=SCALARS)),
    hyperparameters=some(a=LEAVES, b=some(c=LEAVES, d=LEAVES)),
    searcher=some(metric=NAMES, max_trials=COUNTS, max_length=LENGTHS).map(lambda s: {"name": "random", **s}),
    checkpoint_storage=some(container=NAMES, connection_string=NAMES, account_url=NAMES, credential=NAMES).map(
        lambda s: {"type": "azure", **s}
    ),
    bind_mounts=MOUNTS,
    log_policies=POLICIES,
    environment=some(
        image=NAMES | some(gpu=NAMES, cpu=NAMES),
        environment_variables=ENTRIES | some(gpu=ENTRIES, cpu=ENTRIES),
        registry_auth=some(username=NAMES, password=NAMES),
    ),
    slurm=some(sbatch_args=ENTRIES),
)
KEYS = st.sampled_from([*EXPERIMENT.fields, "nonsense"])
GARBAGE = st.dictionaries(KEYS, JSON | LAYERS, max_size=4)


@LAW
@given(STEADY, STEADY, STEADY)
def test_layers_may_be_merged_in_any_grouping(a: Any, b: Any, c: Any) -> None:
    high, middle, low = canonicalize(a), canonicalize(b), canonicalize(c)
    assert merge(merge(high, middle), low) == merge(high, merge(middle, low))


@LAW
@given(LAYERS)
def test_the_empty_layer_changes_nothing(a: Any) -> None:
    layer = canonicalize(a)
    assert merge(layer, {}) == merge({}, layer) == layer


@LAW
@given(LAYERS, LAYERS)
def test_merging_changes_neither_layer(a: Any, b: Any) -> None:
    high, low = canonicalize(a), canonicalize(b)
    before = deepcopy((high, low))
    merge(high, low)
    assert (high, low) == before


@LAW
@given(LAYERS, LAYERS)
def test_two_sane_layers_merge_to_a_sane_one(a: Any, b: Any) -> None:
    check_sane(a)
    check_sane(b)
    check_sane(merge(canonicalize(a), canonicalize(b)))


@LAW
@given(LAYERS)
def test_the_published_schema_accepts_every_sane_layer_its_canonical_form_and_its_defaults(a: Any) -> None:
    for config in (a, canonicalize(a), apply_defaults(a, seed=1, name="a-b-c")):
        unfinished = {key: value for key, value in config.items() if key not in ("searcher", "checkpoint_storage")}
        assert not list(PUBLISHED.iter_errors(unfinished))


@LAW
@given(LAYERS)
def test_the_canonical_form_is_its_own_canonical_form_and_leaves_its_source_alone(a: Any) -> None:
    before = deepcopy(a)
    once = canonicalize(a)
    assert canonicalize(once) == once
    assert a == before


@LAW
@given(LAYERS)
def test_defaults_written_twice_are_defaults_written_once(a: Any) -> None:
    once = apply_defaults(a, seed=1, name="a-b-c")
    assert apply_defaults(once, seed=2, name="d-e-f") == once
    assert find_violations(once, complete=False) == []


@LAW
@given(LAYERS)
def test_defaults_never_override_what_was_given(a: Any) -> None:
    given_layer, filled = canonicalize(a), apply_defaults(a, seed=1, name="a-b-c")
    for key in ("name", "max_restarts", "labels", "data", "hyperparameters", "entrypoint", "min_validation_period"):
        if key in given_layer:
            assert filled[key] == given_layer[key]


@LAW
@given(LAYERS, st.dictionaries(NAMES, st.just("SECRET5") | st.lists(st.just("SECRET6")), max_size=2))
def test_masking_never_leaks(a: Any, secrets: Any) -> None:
    for form in (a, canonicalize(a), apply_defaults(a, seed=1, name="a-b-c")):
        config = {**form, "data": {**(form.get("data") or {}), "secrets": secrets}}
        shown = mask_secrets(config)
        assert "SECRET" not in json.dumps(shown)
        assert mask_secrets(shown) == shown


@LAW
@given(LAYERS)
def test_yaml_written_is_yaml_read(a: Any) -> None:
    assert parse_yaml(dump_yaml(a)) == a


@LAW
@given(GARBAGE, GARBAGE)
def test_garbage_is_refused_never_a_crash(a: Any, b: Any) -> None:
    canonical = canonicalize(a)
    assert canonicalize(canonical) == canonical
    merge(canonical, canonicalize(b))
    apply_defaults(a, seed=1, name="a-b-c")
    mask_secrets(a)
    for complete in (False, True):
        assert all(line.startswith("<config>") for line in find_violations(a, complete=complete))


@LAW
@given(st.text(alphabet="ab:-[]{}&*!|>'\"#,? \n1.\\u", max_size=40))
def test_any_text_is_a_mapping_or_refused(text: str) -> None:
    try:
        assert isinstance(parse_yaml(text), dict)
    except InvalidConfig as error:
        assert isinstance(error, DeterminedError) and error.message


@LAW
@given(LAYERS)
def test_a_complete_config_reads_back(a: Any) -> None:
    whole = {
        **a,
        "searcher": {"name": "single", "metric": "m"},
        "checkpoint_storage": {"type": "directory", "container_path": "/x"},
    }
    active = apply_defaults(whole, seed=1, name="a-b-c")
    assert find_violations(active, complete=True) == []
    config = ExperimentConfig.load(json.loads(json.dumps(active)))
    assert config.raw == active
    assert config.max_restarts == active["max_restarts"]
