"""Fields of searches that learn, start from known points or weigh several metrics, and their rules."""

from collections.abc import Iterator

from determined._json import JsonObject, JsonValue
from determined.schema.lists import FreeMap, ListOf
from determined.schema.node import Boolean, Integer, Number, Report, Text
from determined.schema.section import Section, field

SAMPLERS = ("tpe", "gp", "cmaes", "random", "nsga2")
NSGA2_POPULATION = 50  # where `population_size` is not given


class TpeOptions(Section):
    """Options of Optuna's samplers, by the names that Optuna gives them. Absent ones are Optuna's to choose."""

    n_startup_trials: int | None = field(Integer(low=0), "Trials drawn at random.", default=None, fill=False)
    n_ei_candidates: int | None = field(Integer(low=1), "Candidates to choose from.", default=None, fill=False)
    multivariate: bool | None = field(Boolean(), "Weigh parameters together.", default=None, fill=False)
    constant_liar: bool | None = field(Boolean(), "Count running trials as bad ones.", default=None, fill=False)


class GpOptions(Section):
    n_startup_trials: int | None = field(Integer(low=1), "Trials drawn at random.", default=None, fill=False)


class CmaesOptions(Section):
    n_startup_trials: int | None = field(Integer(low=0), "Trials drawn at random.", default=None, fill=False)
    sigma0: float | None = field(Number(above=0), "First spread of the points.", default=None, fill=False)
    popsize: int | None = field(Integer(low=2), "Trials of a generation.", default=None, fill=False)
    use_separable_cma: bool | None = field(Boolean(), "Weigh each parameter alone.", default=None, fill=False)
    lr_adapt: bool | None = field(Boolean(), "Adapt the learning rate.", default=None, fill=False)


class RandomOptions(Section):
    pass


class Nsga2Options(Section):
    population_size: int | None = field(Integer(low=2), "Trials of a generation.", default=None, fill=False)
    mutation_prob: float | None = field(Number(0, 1), "Chance of a mutation.", default=None, fill=False)
    crossover_prob: float | None = field(Number(0, 1), "Chance of a crossover.", default=None, fill=False)
    swapping_prob: float | None = field(Number(0, 1), "Chance to swap a parameter.", default=None, fill=False)


_OPTIONS: dict[str, type[Section]] = {
    "tpe": TpeOptions,
    "gp": GpOptions,
    "cmaes": CmaesOptions,
    "random": RandomOptions,
    "nsga2": Nsga2Options,
}


class Metric(Section):
    """One objective of a search."""

    name: str = field(Text(), "Name of the validation metric.")
    smaller_is_better: bool = field(Boolean(), "Whether less of it is better.", default=True)


def with_first_metric(searcher: JsonValue) -> JsonValue:
    """Write `metric` and `smaller_is_better` as the first of `metrics` has them, for all that looks at one metric."""
    if not isinstance(searcher, dict):
        return searcher
    several = searcher.get("metrics")
    if not isinstance(several, list) or not several or not isinstance(several[0], dict):
        return searcher
    first = {"metric": several[0].get("name"), "smaller_is_better": several[0].get("smaller_is_better") is not False}
    return {**first, **{key: value for key, value in searcher.items() if value is not None}}


def metrics_agree(value: JsonObject) -> Iterator[tuple[str, str]]:
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


def one_metric(value: JsonObject) -> Iterator[tuple[str, str]]:
    if len(value.get("metrics") or ()) > 1:
        yield "metrics", f"{value['name']} stops trials by one metric; give one, or use `name: optuna` or `random`"


def sampler_suits(value: JsonObject) -> Iterator[tuple[str, str]]:
    """Options by name, and the samplers that cannot weigh several metrics."""
    sampler, options = value.get("sampler"), value.get("sampler_options")
    if sampler is None:
        if options and value["name"] != "optuna":
            yield "sampler_options", "has no `sampler` to go to; name one"
            return
        sampler = "tpe"
    inner = Report(complete=True)
    _OPTIONS[sampler].schema.check(options or {}, "sampler_options", inner)
    for violation in inner.violations:
        where, _, reason = violation.partition(": ")
        yield where, f"{reason} (sampler {sampler})"
    if sampler == "cmaes" and len(value.get("metrics") or ()) > 1:
        yield "sampler", "cmaes follows a single metric; use tpe, gp or nsga2 for several"


def points_fit(value: JsonObject) -> Iterator[tuple[str, str]]:
    points, trials = value.get("initial_points") or (), value.get("max_trials")
    if trials is not None and len(points) > trials:
        yield "initial_points", f"has {len(points)} points, but max_trials is {trials}; raise it or drop points"


class Learning(Section, rules=(metrics_agree, sampler_suits, points_fit)):
    """Fields of searches that weigh several metrics, begin at known points or learn."""

    metrics: tuple[Metric, ...] | None = field(
        ListOf(Metric, nonempty=True),
        "Several metrics instead of `metric`; the first is shown where one is.",
        default=None,
        since="0.39",
    )
    initial_points: tuple[JsonObject, ...] = field(
        ListOf(FreeMap()),
        "Points to evaluate first; what a point leaves open is drawn. At most `max_trials`.",
        default=[],
        since="0.39",
    )
    sampler: str | None = field(
        Text(choices=SAMPLERS),
        "The model that chooses points; all but `random` need the extra `optuna` (`gp` the extra `optuna-gp`).",
        default=None,
        since="0.39",
    )
    sampler_options: JsonObject = field(
        FreeMap(), "Options of the sampler, by Optuna's names. See the guide.", default={}, since="0.39"
    )


def sampler_warnings(searcher: JsonObject, leaves: JsonObject) -> list[str]:
    """Say what a sampler will do that the submitter may not expect; `leaves` are the flat hyperparameters."""
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
