"""From a config's searcher section to the method and the sampler that it names."""

from typing import Any

from determined.errors import InvalidConfig
from determined.search.adaptive import adaptive, budget_brackets
from determined.search.adaptive_asha import Mode, adaptive_asha, plan_brackets
from determined.search.adaptive_simple import trial_brackets
from determined.search.asha import ClassicStoppingAsha, LateAsha
from determined.search.asha_promotion import PromotionAsha
from determined.search.async_halving import Halving
from determined.search.custom import CustomSearch
from determined.search.grid import GridSearch
from determined.search.method import SearchMethod
from determined.search.objectives import Objectives
from determined.search.optuna_sampler import OptunaSampler
from determined.search.optuna_study import EXTRA, GP_EXTRA, missing_libraries
from determined.search.pbt import Explore, PopulationSearch
from determined.search.random import RandomSearch
from determined.search.sampler import Sampler
from determined.search.single import SingleSearch
from determined.search.sync_halving import Stage, SyncHalving, budget_stages

_MAX_CONCURRENT = 16
_DIVISOR = 4
_MAX_RUNGS = 5
_FRACTION = 0.2  # of a population that is replaced, drawn anew, perturbed
_NO_MAX_LENGTH = frozenset({"custom", "pbt"})  # their lengths are the client's, or those of rounds


def build_method(searcher: dict[str, Any], space: dict[str, Any], *, classic: bool) -> SearchMethod:
    """A fresh method. `classic`: it hands out lengths; otherwise trials run and it may stop them.

    Raises:
        InvalidConfig: the searcher is unknown or lacks what its method needs.
    """
    length = max_length(searcher) if classic and searcher.get("name") not in _NO_MAX_LENGTH else None
    method: SearchMethod
    match searcher.get("name"):
        case "single":
            method = SingleSearch(length=length)
        case "random" | "optuna":
            trials = int(required(searcher, "max_trials"))
            method = RandomSearch(max_trials=trials, max_concurrent=max_concurrent(searcher), length=length)
        case "grid":
            method = GridSearch(space, max_concurrent=max_concurrent(searcher), length=length)
        case "async_halving" | "adaptive_asha":
            method = _asha(searcher, classic=classic)
        case "sync_halving":
            method = SyncHalving(sync_brackets(searcher)[0])
        case "adaptive" | "adaptive_simple":
            method = adaptive(sync_brackets(searcher))
        case "pbt":
            method = _pbt(searcher)
        case "custom":
            method = CustomSearch()
        case unknown:
            raise invalid(
                "name", f"searcher {unknown!r} is unknown; see the searcher section of the configuration reference"
            )
    return method


def build_sampler(searcher: dict[str, Any], space: dict[str, Any]) -> Sampler | None:
    """The model that chooses points, where the config asks for one; None means they are drawn from the seed."""
    sampler = _sampler(searcher)
    if sampler == "random":
        return None
    return OptunaSampler(searcher, space, sampler=sampler, objectives=len(Objectives.of(searcher).each))


def require_libraries(searcher: dict[str, Any]) -> None:
    """Refuse a search whose sampler this process could not run. A running one that is replayed needs no library.

    Raises:
        InvalidConfig: a library is missing; the message names the extra that brings it.
    """
    sampler = _sampler(searcher)
    absent = missing_libraries(sampler)
    if absent:
        extra = GP_EXTRA if sampler == "gp" else EXTRA
        raise invalid(
            "sampler",
            f"{sampler} needs {' and '.join(absent)}, not installed where the master runs;"
            f" run there: pip install 'redetermined[{extra}]'",
        )


def _sampler(searcher: dict[str, Any]) -> str:
    return searcher.get("sampler") or ("tpe" if searcher.get("name") == "optuna" else "random")


def asha_brackets(searcher: dict[str, Any], *, classic: bool) -> list[Halving]:
    """The ASHAs of an adaptive_asha, deepest first; of an async_halving, the one that it is.

    Raises:
        InvalidConfig: a field that the method needs is missing, or its brackets are deeper than numbers go.
    """
    adaptive = searcher["name"] == "adaptive_asha"
    whole = Halving(
        max_trials=int(required(searcher, "max_trials")),
        length=max_length(searcher) if classic else _max_time(searcher),
        rungs=int(searcher.get("max_rungs") or _MAX_RUNGS) if adaptive else int(required(searcher, "num_rungs")),
        divisor=float(searcher.get("divisor") or _DIVISOR),
        max_concurrent=max_concurrent(searcher),
    )
    if not adaptive:
        return [whole]
    rungs = searcher.get("bracket_rungs") or []
    try:
        return plan_brackets(whole, Mode(searcher.get("mode") or Mode.STANDARD), rungs)
    except OverflowError:
        raise invalid("bracket_rungs", f"{max(rungs)} rungs are too many for divisor {whole.divisor:g}") from None


def sync_brackets(searcher: dict[str, Any]) -> list[list[Stage]]:
    """The brackets of an adaptive or adaptive_simple, deepest first; of a sync_halving, the one that it is.

    Raises:
        InvalidConfig: a field that the method needs is missing, or its rungs are deeper than numbers go.
    """
    length, divisor = max_length(searcher), float(searcher.get("divisor") or _DIVISOR)
    max_rungs = int(searcher.get("max_rungs") or _MAX_RUNGS)
    mode = Mode(searcher.get("mode") or Mode.STANDARD)
    try:
        if searcher["name"] == "adaptive_simple":
            return trial_brackets(int(required(searcher, "max_trials")), length, divisor, max_rungs, mode)
        budget = _budget(searcher)
        if searcher["name"] == "sync_halving":
            return [budget_stages(int(required(searcher, "num_rungs")), length, divisor, budget)]
        return budget_brackets(budget, length, divisor, max_rungs, mode, searcher.get("bracket_rungs") or [])
    except OverflowError:
        raise invalid("divisor", f"{divisor:g} is too large for so many rungs; lower it or their number") from None


def max_concurrent(searcher: dict[str, Any]) -> int:
    given = searcher.get("max_concurrent_trials")
    return _MAX_CONCURRENT if given is None else int(given)


def max_length(searcher: dict[str, Any], name: str = "max_length") -> int:
    """`max_length: 50` or `max_length: {batches: 50}`; the unit is the trial's business."""
    length = required(searcher, name)
    if not isinstance(length, dict):
        return int(length)
    if len(length) != 1:
        raise invalid(name, f"needs exactly one of batches, records, epochs, not {sorted(length)}")
    return int(next(iter(length.values())))


def _max_time(searcher: dict[str, Any]) -> int:
    required(searcher, "time_metric")
    return int(required(searcher, "max_time"))


def _asha(searcher: dict[str, Any], *, classic: bool) -> SearchMethod:
    def build(plan: Halving) -> SearchMethod:
        if not classic:
            names = Objectives.of(searcher).names
            return LateAsha(plan, metric=", ".join(names), time_metric=searcher["time_metric"])
        return ClassicStoppingAsha(plan) if searcher.get("stop_once") else PromotionAsha(plan)

    brackets = asha_brackets(searcher, classic=classic)
    return adaptive_asha(brackets, build) if searcher["name"] == "adaptive_asha" else build(brackets[0])


def _budget(searcher: dict[str, Any]) -> int:
    """In the unit of max_length."""
    length, budget = searcher.get("max_length"), required(searcher, "budget")
    if isinstance(length, dict) and isinstance(budget, dict) and set(length) != set(budget):
        raise invalid("budget", f"is in {', '.join(budget)}, but max_length is in {', '.join(length)}; use one unit")
    return max_length(searcher, "budget")


def _pbt(searcher: dict[str, Any]) -> SearchMethod:
    replace, explore = searcher.get("replace_function") or {}, searcher.get("explore_function") or {}
    return PopulationSearch(
        population_size=int(required(searcher, "population_size")),
        num_rounds=int(required(searcher, "num_rounds")),
        length_per_round=max_length(searcher, "length_per_round"),
        truncate_fraction=float(replace.get("truncate_fraction", _FRACTION)),
        explore=Explore(
            resample_probability=float(explore.get("resample_probability", _FRACTION)),
            perturb_factor=float(explore.get("perturb_factor", _FRACTION)),
        ),
    )


def required(searcher: dict[str, Any], name: str) -> Any:
    if searcher.get(name) is None:
        raise invalid(name, f"`{name}` is a required property of searcher {searcher.get('name')!r}")
    return searcher[name]


def invalid(field: str, why: str) -> InvalidConfig:
    return InvalidConfig("invalid experiment configuration", [f"<config>.searcher.{field}: {why}"])
