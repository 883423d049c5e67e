"""The checks and defaults that lead to an experiment config."""

from determined._json import JsonObject
from determined.config.experiment_schema import EXPERIMENT, ExperimentConfig
from determined.config.shims import canonicalize
from determined.errors import InvalidConfig
from determined.schema.node import Report
from determined.schema.storable import find_unstorable

ROOT = "<config>"
INCOMPLETE = "invalid experiment configuration: config is invalid or incomplete"


def check_sane(raw: JsonObject, *, whole: bool = False) -> None:
    """Refuse what can be seen wrong in one layer: unknown keys, types, ranges. Missing fields may come from others.

    Args:
        whole: no other layer has a searcher or hyperparameters; what a faulty config lacks there is told with the rest.

    Raises:
        InvalidConfig: with every violation.
    """
    violations = find_violations(raw, complete=False)
    if violations and whole:
        own = {key: raw[key] for key in ("searcher", "hyperparameters") if raw.get(key) is not None}
        missing = [v for v in find_violations(own, complete=True) if v.startswith(f"{ROOT}.") and v not in violations]
        violations += missing
    if violations:
        raise InvalidConfig("invalid experiment configuration: config is invalid", violations)


def check_complete(raw: JsonObject) -> ExperimentConfig:
    """Refuse what is missing or wrong after merging and defaults; answer the typed config.

    Raises:
        InvalidConfig: with every violation.
    """
    violations = find_violations(raw, complete=True)
    if violations:
        raise InvalidConfig(INCOMPLETE, violations)
    return ExperimentConfig.load(raw)


def apply_defaults(raw: JsonObject, *, seed: int, name: str) -> JsonObject:
    """Write every default. `name` (three words) and `seed` are used where the config has none of its own."""
    return fill_defaults(canonicalize(raw), seed=seed, name=name)


def fill_defaults(canonical: JsonObject, *, seed: int, name: str) -> JsonObject:
    """Fill the defaults as `apply_defaults` does, in data that is canonical already."""
    filled = ExperimentConfig.fill(canonical)
    if filled.get("name") is None:
        filled["name"] = f"Experiment ({name})"
    reproducibility = filled["reproducibility"]
    if isinstance(reproducibility, dict) and reproducibility.get("experiment_seed") is None:
        filled["reproducibility"] = {**reproducibility, "experiment_seed": seed}
    return filled


def find_violations(raw: object, *, complete: bool) -> list[str]:
    """Return every violation of a raw config, as `<config>.path: reason`; `complete` also demands required fields."""
    report = Report(complete=complete)
    canonical = canonicalize(raw) if isinstance(raw, dict) else raw
    # The shims multiply steps and sizes, so the canonical numbers must fit as well.
    for at, reason in list(find_unstorable(raw, ROOT)) or find_unstorable(canonical, ROOT):
        report.add(at, reason)
    EXPERIMENT.check(canonical, ROOT, report)
    return report.violations
