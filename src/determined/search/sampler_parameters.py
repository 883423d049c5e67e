"""Parameters of searches that learn, start from known points or weigh several metrics, and their rules."""

from collections.abc import Iterator

from determined._json import JsonObject, JsonValue
from determined.schema.lists import FreeMap, ListOf
from determined.schema.node import Boolean, Report, Text
from determined.schema.section import Section, field
from determined.search.registry import find_sampler, samplers

DEFAULT_SAMPLER = "tpe"
_SAMPLER = Text(choices=tuple(samplers()))
_SAMPLER_MEANING = (
    "The model that chooses points; all but `random` need the extra `optuna` (`gp` the extra `optuna-gp`)."
)


class Metric(Section):
    """Objective of a search."""

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
    """Demand one way of naming what is searched for. `metric` may repeat the first, as a stored config does."""
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
    """Refuse several metrics."""
    if len(value.get("metrics") or ()) > 1:
        yield "metrics", f"{value['name']} stops trials by one metric; give one, or use `name: optuna` or `random`"


def points_fit(value: JsonObject) -> Iterator[tuple[str, str]]:
    """Demand that there is a trial for each initial point."""
    points, trials = value.get("initial_points") or (), value.get("max_trials")
    if trials is not None and len(points) > trials:
        yield "initial_points", f"has {len(points)} points, but max_trials is {trials}; raise it or drop points"


def sampler_suits(value: JsonObject) -> Iterator[tuple[str, str]]:
    """Check the options of the sampler that is named, and how many metrics it takes."""
    if value.get("sampler") is not None:
        yield from _sampler_problems(value, value["sampler"])
    elif value.get("sampler_options"):
        yield "sampler_options", "has no `sampler` to go to; name one"


def chosen_sampler_suits(value: JsonObject) -> Iterator[tuple[str, str]]:
    """Check the same, of a searcher that has a sampler in any case."""
    yield from _sampler_problems(value, value.get("sampler") or DEFAULT_SAMPLER)


def _sampler_problems(value: JsonObject, name: str) -> Iterator[tuple[str, str]]:
    sampler = find_sampler(name)
    if sampler is None:
        return  # which the choices of `sampler` report
    inner = Report(complete=True)
    sampler.schema.check(value.get("sampler_options") or {}, "sampler_options", inner)
    for violation in inner.violations:
        where, _, reason = violation.partition(": ")
        yield where, f"{reason} (sampler {name})"
    if not sampler.weighs_several_metrics and len(value.get("metrics") or ()) > 1:
        others = [other.name for other in samplers().values() if other.is_model and other.weighs_several_metrics]
        listed = f"{', '.join(others[:-1])} or {others[-1]}"
        yield "sampler", f"{name} follows a single metric; use {listed} for several"


class SeveralMetrics(Section, rules=(metrics_agree,)):
    metrics: tuple[Metric, ...] | None = field(
        ListOf(Metric, nonempty=True),
        "Several metrics instead of `metric`; the first is shown where one is.",
        default=None,
        since="0.39",
    )


class InitialPoints(Section, rules=(points_fit,)):
    initial_points: tuple[JsonObject, ...] = field(
        ListOf(FreeMap()),
        "Points to evaluate first; what a point leaves open is drawn. At most `max_trials`.",
        default=[],
        since="0.39",
    )


class SamplerOptions(Section):
    sampler_options: JsonObject = field(
        FreeMap(), "Options of the sampler, by Optuna's names. See the guide.", default={}, since="0.39"
    )


class OptionalSampler(SamplerOptions, InitialPoints, SeveralMetrics, rules=(sampler_suits,)):
    """Points are drawn, unless a sampler is named."""

    sampler: str | None = field(_SAMPLER, _SAMPLER_MEANING, default=None, since="0.39")


class ChosenSampler(SamplerOptions, InitialPoints, SeveralMetrics, rules=(chosen_sampler_suits,)):
    """A sampler chooses points."""

    sampler: str = field(_SAMPLER, _SAMPLER_MEANING, default=DEFAULT_SAMPLER, since="0.39")


def sampler_warnings(searcher: JsonObject, leaves: JsonObject) -> list[str]:
    """Say what a sampler will do that the submitter may not expect; `leaves` are the flat hyperparameters."""
    sampler = find_sampler(searcher.get("sampler"))
    return [] if sampler is None else sampler.warnings(searcher, leaves)
