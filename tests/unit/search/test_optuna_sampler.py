"""Model-based sampling with the real libraries: it learns, it repeats itself exactly, and its state is our own."""

import json
import math
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from determined.errors import InvalidConfig
from determined.search.build import build_sampler, require_libraries
from determined.search.method import WORST, Close, Create, ExitReason, Stop, ValidateAfter
from determined.search.model_sampler import ModelSampler
from determined.search.registry import load_searcher
from determined.search.sampler import Sampler
from determined.search.searcher import Searcher

SPACE: dict[str, Any] = {
    "lr": {"type": "log", "base": 10, "minval": -5, "maxval": 0},
    "width": {"type": "int", "minval": 1, "maxval": 64},
    "net": {
        "act": {"type": "categorical", "vals": ["relu", None, {"elu": 1}]},
        "drop": {"type": "double", "minval": 0, "maxval": 1},
    },
    "depth": 3,
}
MODELS = ["tpe", "gp", "cmaes", "nsga2"]


def loss(hparams: dict[str, Any]) -> float:
    """Best at lr 0.01, width 20, drop 0.3, no activation named."""
    far = abs(hparams["width"] - 20) / 20 + (hparams["net"]["drop"] - 0.3) ** 2
    return (math.log10(hparams["lr"]) + 2) ** 2 + far + (0.0 if hparams["net"]["act"] is None else 0.5)


def built_from(searcher: dict[str, Any], space: dict[str, Any]) -> Sampler | None:
    return build_sampler(load_searcher(searcher, whole=False), space)


def sampler_of(sampler: str, *, metrics: int = 1, space: dict[str, Any] = SPACE, **fields: Any) -> ModelSampler:
    names = [{"name": f"m{n}"} for n in range(metrics)]
    built = built_from({"name": "optuna", "sampler": sampler, "metrics": names, **fields}, space)
    assert isinstance(built, ModelSampler)
    return built


def taught(sampler: str, trials: int, **fields: Any) -> ModelSampler:
    """One that has seen `trials` uniform points of the space."""
    rng, model = random.Random(trials), sampler_of(sampler, **fields)
    for n in range(trials):
        hparams = uniform(rng)
        model.created(str(n), hparams)
        model.observed(str(n), [loss(hparams)] * fields.get("metrics", 1), 1)
        model.ended(str(n), None)
    return model


def uniform(rng: random.Random) -> dict[str, Any]:
    net = {"act": rng.choice(["relu", None, {"elu": 1}]), "drop": rng.random()}
    return {"lr": 10 ** rng.uniform(-5, 0), "width": rng.randint(1, 64), "net": net, "depth": 3}


def search(config: dict[str, Any], *, seed: int = 0, value: Callable[[dict[str, Any]], Any] = loss) -> list[Create]:
    """Run a whole late search of one validation a trial, one after the other; its trials in order."""
    found: list[Create] = []
    searcher = Searcher.create(config, SPACE, seed=seed, classic=False)
    waiting: list[Any] = searcher.start()
    while True:
        for request_id in searcher.proposals():
            waiting += searcher.proposed(request_id, searcher.propose(request_id))
        if not waiting:
            return found
        operation = waiting.pop(0)
        if isinstance(operation, Create):
            found.append(operation)
            waiting += searcher.trial_created(operation.request_id)
            waiting += searcher.validation(operation.request_id, value(operation.hparams), 1)
            waiting += searcher.exited(operation.request_id)


@pytest.mark.parametrize("sampler", MODELS)
def test_every_proposal_is_a_point_of_the_space(sampler: str) -> None:
    for model in (sampler_of(sampler), taught(sampler, 15)):
        point = model.propose(seed=5)
        assert list(point) == ["depth", "lr", "net", "width"] and list(point["net"]) == ["act", "drop"]
        assert 1e-5 <= point["lr"] <= 1 and 0 <= point["net"]["drop"] <= 1
        assert type(point["width"]) is int and 1 <= point["width"] <= 64
        assert point["net"]["act"] in ["relu", None, {"elu": 1}] and point["depth"] == 3


@pytest.mark.parametrize("sampler", MODELS)
def test_equal_state_and_seed_give_the_equal_point(sampler: str) -> None:
    model = taught(sampler, 12)
    before = json.dumps(model.snapshot())
    copy = sampler_of(sampler)
    copy.restore(json.loads(before))
    assert model.propose(7) == copy.propose(7)
    assert json.dumps(model.snapshot()) == json.dumps(copy.snapshot()) == before  # proposing changes nothing


@pytest.mark.parametrize("sampler", ["tpe", "cmaes", "nsga2"])  # a Gaussian process has one best place to look
def test_another_seed_gives_another_point(sampler: str) -> None:
    model = taught(sampler, 12)
    assert len({json.dumps(model.propose(seed)) for seed in range(4)}) > 1


@pytest.mark.parametrize(("sampler", "options"), [("tpe", {}), ("cmaes", {}), ("nsga2", {"population_size": 10})])
def test_a_search_that_learns_ends_nearer_to_the_best_than_it_began(sampler: str, options: dict[str, Any]) -> None:
    gains = []
    for seed in range(3):
        config = {"name": "optuna", "metric": "loss", "max_trials": 60, "max_concurrent_trials": 4}
        found = search({**config, "sampler": sampler, "sampler_options": options}, seed=seed)
        assert len(found) == 60
        losses = [loss(trial.hparams) for trial in found]
        gains.append(sum(losses[:20]) / sum(losses[-20:]))
    assert sum(gains) / len(gains) > 1.5


def test_gp_proposes_near_the_best() -> None:
    assert loss(taught("gp", 25).propose(1)) < 1.5  # a uniform point has 4.4 on average


def test_random_needs_no_model() -> None:
    assert built_from({"name": "optuna", "metric": "loss", "sampler": "random"}, SPACE) is None
    assert built_from({"name": "random", "metric": "loss"}, SPACE) is None
    assert built_from({"name": "adaptive_asha", "metric": "loss"}, SPACE) is None
    assert built_from({"name": "optuna", "metric": "loss"}, SPACE) is not None


def test_trials_that_run_are_kept_away_from() -> None:
    """Without that, sixteen trials asked for at once would all be the same one."""
    model = taught("tpe", 40)
    points = []
    for seed in range(8):
        points.append(model.propose(seed=1))
        model.created(f"running-{seed}", points[-1])
    assert len({json.dumps(point) for point in points}) == 8


def test_several_objectives_are_all_learned_from() -> None:
    def both(hparams: dict[str, Any]) -> dict[str, float]:
        return {"a": (math.log10(hparams["lr"]) + 3) ** 2, "b": -((math.log10(hparams["lr"]) + 1) ** 2)}

    metrics = [{"name": "a"}, {"name": "b", "smaller_is_better": False}]
    found = search({"name": "optuna", "metrics": metrics, "max_trials": 50, "sampler": "tpe"}, value=both)
    between = [-3.3 <= math.log10(trial.hparams["lr"]) <= -0.7 for trial in found]  # where no point beats another
    assert sum(between[-25:]) > sum(between[:25])
    assert sum(between[-25:]) >= 18


@pytest.mark.parametrize("sampler", MODELS)
def test_nan_and_failed_trials_repel_and_break_nothing(sampler: str) -> None:
    """Everything with lr above 0.1 fails, one way or another."""
    model, rng = sampler_of(sampler), random.Random(3)
    for n in range(60):
        hparams = uniform(rng)
        model.created(str(n), hparams)
        if hparams["lr"] > 0.1 and n % 2:
            model.ended(str(n), ExitReason.INVALID_HP)
            continue
        model.observed(str(n), [WORST if hparams["lr"] > 0.1 else loss(hparams)], 1)
        model.ended(str(n), None)
    assert 1e-5 <= model.propose(0)["lr"] <= 1
    if sampler == "tpe":
        assert sum(model.propose(seed)["lr"] > 0.1 for seed in range(10)) <= 1


def test_nothing_is_learned_from_canceled_trials_and_points_of_another_space() -> None:
    model = taught("tpe", 12)
    before = model.snapshot()
    model.created("canceled", uniform(random.Random(1)))
    model.ended("canceled", ExitReason.USER_CANCELED)
    model.created("stranger", {"lr": 0.1})
    model.observed("stranger", [0.0], 1)
    model.ended("stranger", None)
    assert model.snapshot() == before


def test_a_space_of_constants_needs_no_thought() -> None:
    assert sampler_of("tpe", space={"depth": 3, "net": {"act": "relu"}}).propose(1) == {
        "depth": 3,
        "net": {"act": "relu"},
    }


def test_a_generation_ends_when_enough_of_its_trials_have() -> None:
    model = sampler_of("nsga2", sampler_options={"population_size": 4})
    for n in range(6):
        model.created(str(n), uniform(random.Random(n)))
    for n in range(6):
        model.observed(str(n), [float(n)], 1)
        model.ended(str(n), None)
    model.created("next", uniform(random.Random(9)))
    state = model.snapshot()
    assert [trial["generation"] for trial in state["trials"].values()] == [0] * 6 + [1]
    assert (state["generation"], state["in_generation"]) == (1, 0)  # the two that came late count for nothing


def test_behind_asha_the_first_result_at_each_rung_is_kept() -> None:
    timed = {"time_metric": "batches", "max_time": 16}
    searcher = {"name": "async_halving", "num_rungs": 3, "divisor": 4, "sampler": "tpe", "metric": "loss", **timed}
    model = built_from(searcher, SPACE)
    assert model is not None
    model.created("a", uniform(random.Random(0)))
    for length, value in ((0.5, 9.0), (1, 5.0), (2, 4.0), (4, 3.0), (20, 2.0), (21, 1.0)):
        model.observed("a", [value], length)
    assert model.snapshot()["trials"]["a"]["results"] == {"0": [5.0], "1": [3.0], "2": [2.0]}


def test_behind_asha_the_model_learns_and_stops_still_happen() -> None:
    timed = {"time_metric": "epochs", "max_time": 16, "max_trials": 60, "max_concurrent_trials": 4}
    config = {"name": "adaptive_asha", "metric": "loss", "sampler": "tpe", "mode": "aggressive", **timed}
    found, stops = asha_search(config)
    assert len(found) == 60 and stops > 20
    losses = [loss(hparams) for hparams in found]
    assert sum(losses[-20:]) < sum(losses[:20]) / 1.5


def test_in_the_classic_generation_lengths_follow_the_point() -> None:
    config = {"name": "optuna", "metric": "loss", "max_trials": 2, "max_length": {"epochs": 3}}
    searcher = Searcher.create(config, SPACE, seed=0, classic=True)
    assert searcher.start() == []
    (first, _) = searcher.proposals()
    released = searcher.proposed(first, searcher.propose(first))
    assert [type(operation) for operation in released] == [Create, ValidateAfter, Close]
    assert released[1] == ValidateAfter(first, 3)


def test_initial_points_come_first_and_are_learned_from() -> None:
    config = {
        "name": "optuna",
        "metric": "loss",
        "max_trials": 3,
        "initial_points": [{"lr": 0.01, "net": {"act": None}}],
    }
    found = search(config)
    assert len(found) == 3
    assert found[0].hparams["lr"] == 0.01 and found[0].hparams["net"]["act"] is None
    assert 1 <= found[0].hparams["width"] <= 64  # drawn, as the point leaves it open


def test_a_proposal_from_a_thousand_trials_is_quick() -> None:
    model = taught("tpe", 1000)
    model.propose(0)
    began = time.process_time()
    model.propose(1)
    assert time.process_time() - began < 1  # of the processor; some 0.02 on a machine of today


@pytest.mark.parametrize(
    ("sampler", "library", "extra"),
    [("tpe", "optuna", "optuna"), ("cmaes", "cmaes", "optuna"), ("gp", "torch", "optuna-gp")],
)
def test_a_master_without_the_library_refuses_the_search_and_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, sampler: str, library: str, extra: str
) -> None:
    require_libraries({"name": "adaptive_asha", "sampler": sampler})
    monkeypatch.setattr(
        "determined.search.sampler_config.find_spec", lambda name: None if name == library else object()
    )
    with pytest.raises(InvalidConfig) as refused:
        require_libraries({"name": "adaptive_asha", "sampler": sampler})
    assert f"<config>.searcher.sampler: {sampler} needs {library}" in refused.value.message
    assert f"pip install 'redetermined[{extra}]'" in refused.value.message
    require_libraries({"name": "random"})


def test_a_missing_library_is_named_when_a_point_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"pip install 'redetermined\[optuna\]'"):
        sampler_of("tpe").propose(1)


def asha_search(config: dict[str, Any]) -> tuple[list[dict[str, Any]], int]:
    """A late search whose trials report every epoch, four at a time; hyperparameters in order, and how many stopped."""
    searcher = Searcher.create(config, SPACE, seed=1, classic=False)
    found: list[dict[str, Any]] = []
    running: dict[str, tuple[float, int]] = {}  # loss, epoch
    stopped: set[str] = set()

    def execute(operations: list[Any]) -> None:
        for operation in operations:
            if isinstance(operation, Create):
                found.append(operation.hparams)
                running[operation.request_id] = (loss(operation.hparams), 0)
                execute(searcher.trial_created(operation.request_id))
            elif isinstance(operation, Stop):
                stopped.add(operation.request_id)

    execute(searcher.start())
    while running or searcher.proposals():
        while held := searcher.proposals():
            execute(searcher.proposed(held[0], searcher.propose(held[0])))
        for request_id, (final, epoch) in list(running.items()):
            running[request_id] = (final, epoch + 1)
            execute(searcher.validation(request_id, final + 3 / (epoch + 1), epoch + 1))
            if request_id in stopped or epoch + 1 == config["max_time"]:
                del running[request_id]
                execute(searcher.exited(request_id))
    return found, len(stopped)


@pytest.mark.parametrize("model", ["tpe", "nsga2"])
def test_point_that_a_trial_has_had_is_not_proposed_while_others_are_left(model: str) -> None:
    space = {"a": {"type": "int", "minval": 0, "maxval": 5}, "b": {"type": "categorical", "vals": ["x", "y"]}}
    sampler = sampler_of(model, space=space, metrics=1 if model == "tpe" else 2)
    seen = []
    for n in range(8):
        hparams = sampler.propose(n)
        seen.append((hparams["a"], hparams["b"]))
        sampler.created(str(n), hparams)
        sampler.observed(str(n), [float(hparams["a"])] * (1 if model == "tpe" else 2), 1)
        sampler.ended(str(n), None)
    assert len(set(seen)) == 8


def test_small_space_whose_points_have_all_been_tried_still_has_an_answer() -> None:
    space = {"a": {"type": "int", "minval": 0, "maxval": 1}}
    sampler = sampler_of("tpe", space=space)
    for n in range(2):
        sampler.created(str(n), {"a": n})
        sampler.observed(str(n), [float(n)], 1)
        sampler.ended(str(n), None)
    assert sampler.propose(7)["a"] in (0, 1)
