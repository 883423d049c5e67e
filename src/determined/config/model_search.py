"""Fields of searches that learn, start from known points or weigh several metrics: their schema and their rules."""

from collections.abc import Iterator
from typing import Any

from determined.config.node import Boolean, FreeMap, Integer, ListOf, Number, Report, Text
from determined.config.objects import Field, Object

SAMPLERS = ("tpe", "gp", "cmaes", "random", "nsga2")
NSGA2_POPULATION = 50  # where `population_size` is not given

_POSITIVE, _SHARE = Integer(low=1), Number(low=0, high=1)
# What each sampler takes, by the names that Optuna gives these options.
_OPTIONS = {
    "tpe": Object(
        {
            "n_startup_trials": Field(Integer(low=0)),
            "n_ei_candidates": Field(_POSITIVE),
            "multivariate": Field(Boolean()),
            "constant_liar": Field(Boolean()),
        }
    ),
    "gp": Object({"n_startup_trials": Field(_POSITIVE)}),
    "cmaes": Object(
        {
            "n_startup_trials": Field(Integer(low=0)),
            "sigma0": Field(Number(above=0)),
            "popsize": Field(Integer(low=2)),
            "use_separable_cma": Field(Boolean()),
            "lr_adapt": Field(Boolean()),
        }
    ),
    "random": Object({}),
    "nsga2": Object(
        {
            "population_size": Field(Integer(low=2)),
            "mutation_prob": Field(_SHARE),
            "crossover_prob": Field(_SHARE),
            "swapping_prob": Field(_SHARE),
        }
    ),
}
_METRIC = Object({"name": Field(Text(), required=True), "smaller_is_better": Field(Boolean(), default=True)})

METRICS = {"metrics": Field(ListOf(_METRIC, nonempty=True), default=None)}
INITIAL_POINTS = {"initial_points": Field(ListOf(FreeMap()), default=[])}
OPTIONS = {"sampler_options": Field(FreeMap(), default={})}
SAMPLER = {"sampler": Field(Text(choices=SAMPLERS), default=None), **OPTIONS}
CHOSEN_SAMPLER = {"sampler": Field(Text(choices=SAMPLERS), default="tpe"), **OPTIONS}


def with_first_metric(searcher: Any) -> Any:
    """`metric` and `smaller_is_better` as the first of `metrics` has them, for all that looks at one metric."""
    several = searcher.get("metrics") if isinstance(searcher, dict) else None
    if not isinstance(several, list) or not several or not isinstance(several[0], dict):
        return searcher
    first = {"metric": several[0].get("name"), "smaller_is_better": several[0].get("smaller_is_better") is not False}
    return {**first, **{key: value for key, value in searcher.items() if value is not None}}


def metrics_agree(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """One way of naming what is searched for. `metric` may repeat the first, as a stored config does."""
    several = value.get("metrics")
    if not several:
        return
    names = [one.get("name") for one in several]
    for name in sorted({str(name) for name in names if names.count(name) > 1}):
        yield "metrics", f"`{name}` is named more than once"
    if value.get("metric") not in (None, names[0]):
        yield "metric", f"give either `metric` or `metrics`; `{value['metric']}` is not the first of `metrics`"
    smaller = several[0].get("smaller_is_better") is not False
    if value.get("smaller_is_better") not in (None, smaller):
        yield "smaller_is_better", f"the first of `metrics` says {str(smaller).lower()}; give the direction there"


def one_metric(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if len(value.get("metrics") or ()) > 1:
        yield "metrics", f"{value['name']} stops trials by one metric; give one, or use `name: optuna` or `random`"


def sampler_suits(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Options by name, and the samplers that cannot weigh several metrics."""
    sampler, options = value.get("sampler"), value.get("sampler_options")
    if sampler is None:
        if options and value["name"] != "optuna":
            yield "sampler_options", "has no `sampler` to go to; name one"
            return
        sampler = "tpe"
    inner = Report(complete=True)
    _OPTIONS[sampler].check(options or {}, "sampler_options", inner)
    for violation in inner.violations:
        where, _, reason = violation.partition(": ")
        yield where, f"{reason} (sampler {sampler})"
    if sampler == "cmaes" and len(value.get("metrics") or ()) > 1:
        yield "sampler", "cmaes follows a single metric; use tpe, gp or nsga2 for several"


def points_fit(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    points, trials = value.get("initial_points") or (), value.get("max_trials")
    if trials is not None and len(points) > trials:
        yield "initial_points", f"has {len(points)} points, but max_trials is {trials}; raise it or drop points"


def sampler_warnings(searcher: dict[str, Any], leaves: dict[str, Any]) -> list[str]:
    """What a sampler will do that the submitter may not expect; `leaves` are the flat hyperparameters."""
    sampler, warnings = searcher.get("sampler"), []
    if sampler == "cmaes":
        categories = sorted(name for name, hparam in leaves.items() if hparam.get("type") == "categorical")
        warnings += [f"`hyperparameters.{name}` is drawn at random: cmaes knows no categories" for name in categories]
    if sampler == "nsga2" and len(searcher.get("metrics") or ()) < 2:
        warnings.append("`searcher.sampler: nsga2` is made for several `metrics`; tpe learns faster from one")
    population = (searcher.get("sampler_options") or {}).get("population_size") or NSGA2_POPULATION
    if sampler == "nsga2" and searcher["max_trials"] <= population:
        warnings.append(
            f"nsga2 draws its first {population} trials at random, and max_trials is {searcher['max_trials']};"
            " lower sampler_options.population_size"
        )
    return warnings
