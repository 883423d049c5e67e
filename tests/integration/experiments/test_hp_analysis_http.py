"""Pareto fronts and hyperparameter importance of an experiment, over HTTP."""

import json
import math
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from determined.api.session import Session
from determined.master.db.queries import metric, metric_trial
from determined.master.db.queries import trial as trials
from determined.master.services import hp_analysis
from determined.sdk.experiment import Experiment
from determined.wire.report import MetricReport

SPACE = {
    "net": {"lr": {"type": "log", "base": 10, "minval": -4, "maxval": 0}},
    "width": {"type": "int", "minval": 1, "maxval": 9},
    "depth": 3,
}
SEARCHER = {"name": "random", "metric": "loss", "max_concurrent_trials": 0}
Search = Callable[..., tuple[int, list[dict[str, Any]]]]


@pytest.fixture
def search(user: Any, submit: Any) -> Search:
    """`search(trials, **searcher)`: an experiment of that many trials, none of which has run."""

    def make(count: int, **searcher: Any) -> tuple[int, list[dict[str, Any]]]:
        wanted = {
            key: value for key, value in {**SEARCHER, "max_trials": count, **searcher}.items() if value is not None
        }
        experiment_id = submit(user, searcher=wanted, hyperparameters=SPACE, reproducibility={"experiment_seed": 1})[
            "experiment"
        ]["id"]
        found = user.get(f"/api/v1/experiments/{experiment_id}/trials?limit=500").json["trials"]
        assert len(found) == count
        return experiment_id, found

    return make


@pytest.fixture
def complete(write: Any) -> Callable[..., None]:
    """`complete(trial, ...)`: these trials have ended well."""

    def end(*found: dict[str, Any]) -> None:
        def run(conn: Any) -> None:
            for trial in found:
                when = datetime(2026, 11, 15, tzinfo=UTC) + timedelta(seconds=trial["id"])
                trials.update_row(conn, trial["id"], {"state": "COMPLETED", "end_time": when})

        write(run)

    return end


@pytest.fixture
def learned(search: Search, write: Any, complete: Any) -> tuple[int, list[dict[str, Any]]]:
    """Forty trials whose loss is decided by the learning rate; the last report of each is not its best."""
    experiment_id, found = search(40)

    def run(conn: Any) -> None:
        for trial in found:
            loss = (math.log10(trial["hparams"]["net"]["lr"]) + 2) ** 2
            values = [{"loss": loss, "accuracy": -loss}, {"loss": 50.0, "accuracy": -50.0}]
            reports = [MetricReport("validation", step, value, 1.0) for step, value in enumerate(values, start=1)]
            metric.append_reports(conn, metric_trial.reporter(conn, trial["id"]), reports)

    write(run)
    complete(*found)
    return experiment_id, found


def get(client: Any, experiment_id: int, what: str) -> dict[str, Any]:
    answer = client.get(f"/api/v1/experiments/{experiment_id}/{what}")
    assert answer.status == 200, answer.raw
    found: dict[str, Any] = answer.json
    return found


def test_a_pareto_front_of_the_last_validations(user: Any, search: Search, validate: Any, complete: Any) -> None:
    experiment_id, found = search(6)
    values = [(0.9, 30.0), (0.8, 10.0), (0.7, 20.0), (0.95, 90.0), (float("nan"), 1.0)]
    for trial, (accuracy, latency) in zip(found, values, strict=False):
        validate(trial["id"], 1, accuracy=2.0, latency=0.0)  # better than anything, and overtaken
        validate(trial["id"], 2, accuracy=accuracy, latency=latency)
    complete(*found[:5])
    ids = [trial["id"] for trial in found]
    validate(ids[5], 1, accuracy=1.0, latency=0.0)  # still running
    answer = get(user, experiment_id, "pareto-front?metrics=accuracy,latency&smallerIsBetter=false,true")
    assert answer["metrics"] == [
        {"name": "accuracy", "smallerIsBetter": False},
        {"name": "latency", "smallerIsBetter": True},
    ]
    assert answer["front"] == [ids[0], ids[1], ids[3]]
    assert [(point["trialId"], point["rank"]) for point in answer["points"]] == [
        (ids[0], 0), (ids[1], 0), (ids[3], 0), (ids[2], 1),
    ]  # fmt: skip
    assert answer["points"][0]["values"] == [0.9, 30.0]
    assert answer["points"][0]["hparams"] == found[0]["hparams"]
    assert (answer["trialsUsed"], answer["trialsCompleted"], answer["message"]) == (4, 5, "")


def test_the_metrics_of_the_search_and_their_directions_are_the_default(
    user: Any, search: Search, validate: Any, complete: Any
) -> None:
    metrics = [{"name": "accuracy", "smaller_is_better": False}, {"name": "latency"}]
    experiment_id, found = search(2, metric=None, metrics=metrics)
    for trial, (accuracy, latency) in zip(found, [(0.5, 2.0), (0.9, 1.0)], strict=True):
        validate(trial["id"], 1, accuracy=accuracy, latency=latency)
    complete(*found)
    assert get(user, experiment_id, "pareto-front")["front"] == [found[1]["id"]]
    repeated = get(user, experiment_id, "pareto-front?metrics=latency&metrics=accuracy")
    assert [one["smallerIsBetter"] for one in repeated["metrics"]] == [True, False]
    shown = user.get(f"/api/v1/experiments/{experiment_id}").json["experiment"]
    assert shown["searcherMetric"] == "accuracy" and shown["bestTrialSearcherMetric"] == 0.9


def test_a_front_without_points_says_why(user: Any, search: Search) -> None:
    experiment_id, _ = search(1)
    answer = get(user, experiment_id, "pareto-front?metrics=loss,latency")
    assert (answer["front"], answer["points"], answer["trialsUsed"]) == ([], [], 0)
    assert answer["message"] == "no completed trial has validations with loss and latency"


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("pareto-front", "metrics='loss': a Pareto front needs 2 to 8 metrics; name them like metrics=loss,latency"),
        ("pareto-front?metrics=a,b&smallerIsBetter=true", "smallerIsBetter has 1 values for 2 metrics"),
        ("pareto-front?metrics=a,b&smallerIsBetter=true,maybe", "smallerIsBetter='maybe' is neither true nor false"),
        ("pareto-front?metrics=a,b,a", "metrics='a,b,a' names one twice"),
    ],
)
def test_bad_questions_are_refused(user: Any, search: Search, query: str, says: str) -> None:
    experiment_id, _ = search(1)
    answer = user.get(f"/api/v1/experiments/{experiment_id}/{query}")
    assert answer.status == 400
    assert says in answer.message


def test_importance_names_what_decides(user: Any, learned: tuple[int, list[dict[str, Any]]]) -> None:
    answer = get(user, learned[0], "hp-importance")
    assert (answer["metric"], answer["smallerIsBetter"], answer["message"]) == ("loss", True, "")
    assert (answer["trialsUsed"], answer["trialsCompleted"]) == (40, 40)
    assert [one["name"] for one in answer["importances"]] == ["net.lr", "width"]
    assert answer["importances"][0]["importance"] > 0.7
    assert get(user, learned[0], "hp-importance") == answer


def test_importance_of_another_metric_and_direction(user: Any, learned: tuple[int, list[dict[str, Any]]]) -> None:
    by_loss = get(user, learned[0], "hp-importance")
    by_accuracy = get(user, learned[0], "hp-importance?metric=accuracy&smallerIsBetter=false")
    assert by_accuracy["importances"] == by_loss["importances"]  # it is the loss with its sign turned
    assert by_accuracy["metric"] == "accuracy"


def test_the_sdk_asks_the_same(user: Any, learned: tuple[int, list[dict[str, Any]]]) -> None:
    experiment = Experiment(learned[0], Session(user.url, token=user.headers["Authorization"].split()[1]))
    shown = get(user, learned[0], "hp-importance")["importances"]
    assert experiment.hp_importance() == {one["name"]: one["importance"] for one in shown}
    front = experiment.pareto_front(["loss", "accuracy"], [True, True])
    assert [trial.id for trial in front] == get(user, learned[0], "pareto-front?metrics=loss,accuracy")["front"]
    assert front


def test_importance_is_worked_out_again_when_another_trial_completes(
    user: Any, search: Search, validate: Any, complete: Any
) -> None:
    experiment_id, found = search(11)
    for place, trial in enumerate(found[:9]):
        validate(trial["id"], 1, loss=float(place))
    complete(*found[:9])
    too_few = get(user, experiment_id, "hp-importance")
    assert too_few["importances"] == []
    assert too_few["message"] == "needs at least 10 completed trials with this metric, and has 9"
    validate(found[9]["id"], 1, loss=9.0)
    assert get(user, experiment_id, "hp-importance") == too_few
    complete(found[9])
    assert get(user, experiment_id, "hp-importance")["trialsUsed"] == 10


def test_more_trials_than_can_be_looked_at_are_sampled(
    user: Any, learned: tuple[int, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hp_analysis, "MAX_TRIALS", 25)
    importance = get(user, learned[0], "hp-importance")
    assert (importance["trialsUsed"], importance["trialsCompleted"]) == (25, 40)
    front = get(user, learned[0], "pareto-front?metrics=loss,accuracy")
    assert (len(front["points"]), front["trialsCompleted"]) == (25, 40)


def test_a_master_without_the_library_says_what_to_install(
    user: Any, learned: tuple[int, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    answer = user.get(f"/api/v1/experiments/{learned[0]}/hp-importance")
    assert answer.status == 400
    assert "pip install 'redetermined[optuna]'" in answer.message


def test_who_may_not_see_experiments_sees_neither(user: Any, master: Any, search: Search) -> None:
    experiment_id, _ = search(1)
    for what in ("pareto-front?metrics=a,b", "hp-importance"):
        assert master.anonymous.get(f"/api/v1/experiments/{experiment_id}/{what}").status == 401
        missing = user.get(f"/api/v1/experiments/777/{what}")
        assert missing.status == 404 and "777" in missing.message


def test_a_search_that_needs_a_missing_library_is_refused_at_submit(
    user: Any, config: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("determined.search.sampler_config.find_spec", lambda name: None)
    wanted = config(searcher={"name": "optuna", "metric": "loss", "max_trials": 2}, hyperparameters=SPACE)
    body = {"config": json.dumps(wanted), "modelDefinition": []}
    answer = user.post("/api/v1/experiments", body)
    assert answer.status == 400
    assert "<config>.searcher.sampler: tpe needs optuna, not installed where the master runs" in answer.message
    assert "pip install 'redetermined[optuna]'" in answer.message
