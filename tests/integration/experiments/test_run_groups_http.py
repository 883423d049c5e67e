"""Runs in groups: exact statistics of every run that matches."""

import json
import statistics
from typing import Any

import pytest

LOSSES = {("adam", True): [0.5, 0.7, 0.9], ("adam", False): [0.25], ("sgd", True): []}


@pytest.fixture
def runs(user: Any, submit: Any, validate: Any) -> list[int]:
    """Three runs adam/true with a loss, one adam/false, one sgd/true without any."""
    made = []
    for (optimizer, fused), losses in LOSSES.items():
        for loss in losses or [None]:
            hparams = {"opt": {"name": optimizer, "fused": fused}, "lr": 0.1}
            experiment = submit(user, hyperparameters=hparams, labels=["x"])["experiment"]["id"]
            [trial] = user.get(f"/api/v1/experiments/{experiment}/trials").json["trials"]
            if loss is not None:
                validate(trial["id"], 1, loss=loss)
            made.append(trial["id"])
    return made


def groups(client: Any, **body: Any) -> dict[str, Any]:
    answer = client.post("/api/v1/runs", body)
    assert answer.status == 200, answer.raw
    assert answer.json["runs"] == [] and answer.json["exact"] is True
    found: dict[str, Any] = answer.json
    return found


def test_groups_have_exact_statistics_of_all_their_runs(user: Any, runs: list[int]) -> None:
    found = groups(user, groupBy=["hp.opt.name"], groupMetrics=["validation.loss.last"], sort="n=desc")
    adam, sgd = found["groups"]
    values = [0.5, 0.7, 0.9, 0.25]
    assert adam["key"] == {"hp.opt.name": "adam"} and adam["n"] == 4
    stats = adam["metrics"]["validation.loss.last"]
    assert stats["n"] == 4 and stats["min"] == 0.25 and stats["max"] == 0.9
    assert stats["mean"] == pytest.approx(statistics.fmean(values), abs=1e-15)
    assert stats["std"] == pytest.approx(statistics.stdev(values), abs=1e-15)
    assert adam["runIds"] == sorted(runs[:4], reverse=True)
    assert sgd["n"] == 1 and sgd["metrics"]["validation.loss.last"] == {
        "n": 0, "mean": None, "std": None, "min": None, "max": None,
    }  # fmt: skip
    assert found["pagination"]["total"] == 2


def test_several_columns_make_a_key_and_keep_their_types(user: Any, runs: list[int]) -> None:
    keys = ["hp.opt.name", "hp.opt.fused", "state", "tags", "archived"]
    found = groups(user, groupBy=keys)["groups"]
    shown = [[group["key"][name] for name in keys] for group in found]
    assert (
        shown
        == [
            ["adam", False, "STATE_PAUSED", ["x"], False],
            ["adam", True, "STATE_PAUSED", ["x"], False],
            ["sgd", True, "STATE_PAUSED", ["x"], False],
        ]
        or [row[2] for row in shown] == ["STATE_ACTIVE"] * 3
    )
    assert [list(group["metrics"]) for group in found] == [["searcherMetricsVal"]] * 3


def test_groups_are_ordered_by_means_and_cut_into_pages(user: Any, runs: list[int]) -> None:
    by = {"groupBy": ["hp.opt.name", "hp.opt.fused"], "sort": "validation.loss.last=desc"}
    found = groups(user, **by)["groups"]
    assert [group["key"]["hp.opt.fused"] for group in found] == [True, False, True]
    assert found[-1]["key"]["hp.opt.name"] == "sgd", "what has no value comes last"
    page = groups(user, **by, limit=1, offset=1)
    assert page["groups"] == found[1:2] and page["pagination"]["total"] == 3


def test_groups_are_made_of_what_the_filter_leaves(user: Any, runs: list[int]) -> None:
    group = {"children": [{"kind": "field", "columnName": "hp.opt.fused", "operator": "=", "value": True}]}
    found = groups(user, groupBy=["hp.opt.fused"], filter=json.dumps({"filterGroup": group}))["groups"]
    assert [(g["key"], g["n"]) for g in found] == [({"hp.opt.fused": True}, 4)]


def test_what_cannot_be_grouped_or_summed_up_is_named(user: Any) -> None:
    assert "nonsense" in user.post("/api/v1/runs", {"groupBy": ["nonsense"]}).message
    answer = user.post("/api/v1/runs", {"groupBy": ["state"], "groupMetrics": ["user"]})
    assert answer.status == 400 and "holds no numbers" in answer.message
    assert user.post("/api/v1/runs", {"groupBy": [f"hp.{n}" for n in range(9)]}).status == 400


def test_runs_sort_by_hyperparameters_of_any_type(user: Any, submit: Any) -> None:
    made = {}
    for value in ("b", 3, "a", 20, None):
        experiment = submit(user, hyperparameters={} if value is None else {"v": value})["experiment"]["id"]
        [trial] = user.get(f"/api/v1/experiments/{experiment}/trials").json["trials"]
        made[trial["id"]] = value
    ids = [run["id"] for run in user.post("/api/v1/runs", {"sort": "hp.v=asc"}).json["runs"]]
    assert [made[i] for i in ids] == [3, 20, "a", "b", None]


def test_durations_are_numbers_also_as_keys(user: Any, runs: list[int], write: Any) -> None:
    write(
        lambda conn: conn.exec_driver_sql(
            "UPDATE trials SET end_time = start_time + CASE WHEN id > 2 THEN 10500000 ELSE 12000000 END"
        )
    )
    found = groups(user, groupBy=["duration"], groupMetrics=["duration"], sort="duration=asc")["groups"]
    assert [group["key"]["duration"] for group in found] == [10.5, 12.0]
    assert found[0]["metrics"]["duration"]["mean"] == 10.5 and found[0]["metrics"]["duration"]["std"] in (0.0, None)


def test_an_unknown_column_is_told_with_the_columns_of_runs(user: Any) -> None:
    message = user.post("/api/v1/runs", {"groupBy": ["nonsense"]}).message
    assert "experimentName" in message and "metadata.<key>" in message and "numTrials" not in message
