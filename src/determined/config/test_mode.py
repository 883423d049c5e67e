"""Make of an experiment a short one: enough to see that its code runs."""

from determined._json import JsonObject
from determined.search.methods.single import Single
from determined.search.sampler_parameters import with_first_metric

_KEEP_NOTHING = {"save_experiment_best": 0, "save_trial_best": 0, "save_trial_latest": 0}


def one_batch(raw: JsonObject) -> JsonObject:
    """Return a copy of a config with one trial of one batch, no restarts and no checkpoint kept."""
    searcher = with_first_metric(dict(raw.get("searcher") or {}))
    assert isinstance(searcher, dict)  # as it was given
    metric: JsonObject = {key: searcher[key] for key in ("metric", "smaller_is_better") if key in searcher}
    short = {
        **raw,
        "searcher": {"name": Single.name, "max_length": {"batches": 1}, **metric},
        "max_restarts": 0,
        "min_validation_period": {"batches": 1},
        "scheduling_unit": 1,
        "name": f"[test-mode] {raw.get('name', 'experiment')}",
        "description": f"[test-mode] {raw.get('description') or ''}".rstrip(),
    }
    storage = raw.get("checkpoint_storage") or {}
    if isinstance(storage, dict):  # anything else is for the master to refuse
        short["checkpoint_storage"] = {**storage, **_KEEP_NOTHING}
    return short
