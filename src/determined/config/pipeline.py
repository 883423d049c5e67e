"""Pipeline of an experiment config as one pure function: from what a user submitted to what runs."""

from dataclasses import dataclass

from determined._json import JsonObject
from determined.config.container_defaults import merge_task_container_defaults, overlay_container_defaults
from determined.config.experiment import (
    INCOMPLETE,
    ROOT,
    check_sane,
    fill_defaults,
    find_violations,
)
from determined.config.experiment_schema import EXPERIMENT, ExperimentConfig
from determined.config.merging import merge
from determined.config.shims import canonicalize
from determined.config.template_paths import paths_from_template
from determined.errors import InvalidConfig
from determined.schema.engine_traits import NO_TRAITS, EngineTraits
from determined.schema.unused import unused_remarks
from determined.search.generations import generation
from determined.search.hyperparameters import flatten
from determined.search.registry import searcher_of
from determined.search.sampler_parameters import sampler_warnings


@dataclass(frozen=True, slots=True)
class Prepared:
    """`active` is stored and given to trials; `config` is the same, typed; `warnings` are for the submitter."""

    active: JsonObject
    config: ExperimentConfig
    warnings: list[str]


def prepare(
    raw_user: JsonObject,
    *,
    template: JsonObject | None,
    pool_tcd: JsonObject | None,
    cluster_tcd: JsonObject | None,
    workspace_storage: JsonObject | None,
    master_storage: JsonObject | None,
    default_priority: int,
    invariants: list[JsonObject],
    seed: int,
    name: str,
    managed: bool,
    engine: EngineTraits = NO_TRAITS,
) -> Prepared:
    """Check, merge every layer, write defaults, lay invariants (workspace first, then global) over, check again.

    Raises:
        InvalidConfig: with every violation.
    """
    config = lay_over_template(raw_user, template)
    config = merge_task_container_defaults(config, overlay_container_defaults(pool_tcd, cluster_tcd))
    for storage in (workspace_storage, master_storage):
        config = merge(config, canonicalize({"checkpoint_storage": storage}))
    config = _with_priority(config, default_priority)
    active = fill_defaults(config, seed=seed, name=name)
    for invariant in invariants:
        active = fill_defaults(merge(canonicalize(invariant), canonicalize(active)), seed=seed, name=name)
    _check_whole(active, managed=managed)
    return Prepared(active, ExperimentConfig.load(active), find_warnings(raw_user, active, engine))


def lay_over_template(raw_user: JsonObject, template: JsonObject | None) -> JsonObject:
    """Check both, lay the user's config over the template and return the canonical result. Raises InvalidConfig."""
    config = _checked_user_config(raw_user)
    return config if template is None else merge(config, checked_template(template))


def from_template(raw_user: JsonObject, template: JsonObject) -> list[str]:
    """List the places of the merged config that have what the template says. Raises InvalidConfig."""
    merged = lay_over_template(raw_user, template)
    return paths_from_template(_checked_user_config(raw_user), checked_template(template), merged)


def find_warnings(raw_user: JsonObject, active: JsonObject, engine: EngineTraits) -> list[str]:
    """List what is accepted but probably not what the submitter thinks. `engine`: that of the pool."""
    unused = unused_remarks(EXPERIMENT, raw_user, engine)
    return unused + _slots_warnings(raw_user, active) + _searcher_warnings(active)


def _slots_warnings(raw_user: JsonObject, active: JsonObject) -> list[str]:
    if (raw_user.get("resources") or {}).get("slots") is None:
        return []
    used = active["resources"]["slots_per_trial"]
    return [f"resources.slots has no effect in an experiment; each trial gets resources.slots_per_trial={used}"]


def _searcher_warnings(active: JsonObject) -> list[str]:
    searcher, warnings = active["searcher"], []
    if generation(active) == "late" and searcher.get("max_length") is not None:
        warnings.append("`searcher.max_length` beside max_time and time_metric only sets the length scripts can read")
    if searcher.get("source_trial_id") is not None and searcher.get("source_checkpoint_uuid") is not None:
        warnings.append("both source_trial_id and source_checkpoint_uuid are set; source_trial_id is used")
    leaves = flatten(active["hyperparameters"])
    return warnings + sampler_warnings(searcher, leaves) + searcher_of(active).warnings(leaves)


def _checked_user_config(raw: JsonObject) -> JsonObject:
    check_sane(raw)
    return _without_slots(canonicalize(raw))


def checked_template(template: JsonObject) -> JsonObject:
    """Return a template for experiments, canonical. Raises InvalidConfig with every violation."""
    try:
        check_sane(template)
    except InvalidConfig as error:
        raise InvalidConfig("the template is not a valid experiment configuration", error.violations) from None
    return _without_slots(canonicalize(template))


def _without_slots(config: JsonObject) -> JsonObject:
    """Remove `slots`, which only jobs know: both share templates, and old experiments set it without effect."""
    if "resources" not in config:
        return config
    return {**config, "resources": {key: value for key, value in config["resources"].items() if key != "slots"}}


def _check_whole(active: JsonObject, *, managed: bool) -> None:
    violations = find_violations(active, complete=True)
    if managed and active.get("entrypoint") is None:
        violations.append(f"{ROOT}: managed experiments require `entrypoint`")
    if violations:
        raise InvalidConfig(INCOMPLETE, violations)


def _with_priority(config: JsonObject, default_priority: int) -> JsonObject:
    resources = config.get("resources", {})
    if resources.get("priority") is not None:
        return config
    return {**config, "resources": {**resources, "priority": default_priority}}
