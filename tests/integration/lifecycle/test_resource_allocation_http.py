"""How many slots were used by whom: raw, summed by day and month, and as CSV."""

import csv
import io
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from http_cluster import HttpCluster
from world import START, FakeClock

RAW = "/api/v1/resources/allocation/raw"
SUMS = "/api/v1/resources/allocation/aggregated"
DAILY, MONTHLY = (f"RESOURCE_ALLOCATION_AGGREGATION_PERIOD_{name}" for name in ("DAILY", "MONTHLY"))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def cluster(start_master: Callable[..., Any], db_url: str, clock: FakeClock) -> HttpCluster:
    """One experiment of two slots and two labels that ran from 04:00 on November 15 for a day and an hour."""
    cluster = HttpCluster(start_master, db_url, nodes={"a": 4}, clock=clock)
    cluster.submit(resources={"slots_per_trial": 2}, labels=["nlp", "=HYPERLINK(1)"])
    [launch] = cluster.launched()
    cluster.run(launch)
    clock.advance(25 * 3600)
    cluster.leave(launch)
    return cluster


def between(after: float, before: float) -> dict[str, str]:
    times = [(START + timedelta(hours=h)).isoformat().replace("+00:00", "Z") for h in (after, before)]
    return {"timestampAfter": times[0], "timestampBefore": times[1]}


def test_raw_entries_are_cut_to_the_time_asked_for(cluster: HttpCluster) -> None:
    [whole] = cluster.user.get(RAW, fields=between(-1, 48)).json["resourceEntries"]
    assert whole["seconds"] == pytest.approx(25 * 3600, abs=1)
    assert (whole["slots"], whole["username"], whole["experimentId"]) == (2, "determined", 1)
    assert (whole["kind"], sorted(whole["labels"])) == ("training", ["=HYPERLINK(1)", "nlp"])
    [part] = cluster.user.get(RAW, fields=between(1, 3)).json["resourceEntries"]
    assert part["seconds"] == pytest.approx(2 * 3600, abs=1)
    assert cluster.user.get(RAW, fields=between(30, 40)).json["resourceEntries"] == []


def test_what_still_runs_counts_up_to_now(cluster: HttpCluster, clock: FakeClock) -> None:
    cluster.submit()
    cluster.launched(2)
    clock.advance(600)
    entries = cluster.user.get(RAW, fields=between(20, 48)).json["resourceEntries"]
    assert entries[-1]["seconds"] == pytest.approx(600, abs=1)


def test_days_hold_slot_seconds_by_user_label_pool_and_project(cluster: HttpCluster) -> None:
    fields = {"startDate": "2026-11-14", "endDate": "2026-11-16", "period": DAILY}
    before, first, second = cluster.user.get(SUMS, fields=fields).json["resourceEntries"]
    assert [e["periodStart"] for e in (before, first, second)] == ["2026-11-14", "2026-11-15", "2026-11-16"]
    assert (before["seconds"], before["byUsername"]) == (0, {})
    assert first["seconds"] == pytest.approx(20 * 3600 * 2, abs=2)
    assert second["seconds"] == pytest.approx(5 * 3600 * 2, abs=2)
    assert first["byUsername"] == {"determined": first["seconds"]}
    assert first["byResourcePool"] == {"default": first["seconds"]}
    assert first["byExperimentLabel"]["nlp"] == first["seconds"]
    assert first["byProject"] == {"Uncategorized/Uncategorized": first["seconds"]}


def test_months_are_whole(cluster: HttpCluster) -> None:
    fields = {"start_date": "2026-10", "end_date": "2026-11", "period": MONTHLY}
    october, november = cluster.user.get(SUMS, fields=fields).json["resourceEntries"]
    assert (october["periodStart"], october["seconds"]) == ("2026-10", 0)
    assert november["seconds"] == pytest.approx(25 * 3600 * 2, abs=2)


def test_csv_for_spreadsheets_carries_no_formula(cluster: HttpCluster) -> None:
    span = {"timestamp_after": "2026-11-01", "timestamp_before": "2026-12-01"}
    [raw] = _csv(cluster, "raw", span)
    assert (raw["kind"], raw["slots"], raw["username"]) == ("training", "2", "determined")
    [held] = _csv(cluster, "allocations-csv", span)
    assert held["allocation_id"].endswith(".1") and held["workspace_name"] == "Uncategorized"
    sums = _csv(cluster, "aggregated", {"start_date": "2026-11-15", "end_date": "2026-11-15", "period": DAILY})
    assert {s["aggregation_type"] for s in sums} == {"total", "username", "experiment_label", "resource_pool"}
    assert "'=HYPERLINK(1)" in {s["aggregation_key"] for s in sums}


@pytest.mark.parametrize(
    ("path", "fields", "said"),
    [
        (RAW, {}, "give both"),
        (RAW, between(5, 1), "swap them"),
        (RAW, {"timestampAfter": "yesterday", "timestampBefore": "today"}, "is not a time"),
        (SUMS, {"startDate": "x", "endDate": "2026-11-15"}, "is not a date"),
        (SUMS, {"startDate": "2026-11-15", "endDate": "2026-11-14"}, "swap them"),
        (SUMS, {"startDate": "1980-01-01", "endDate": "2026-11-14"}, "ask for less"),
        (SUMS, {"startDate": "9999-12-31", "endDate": "9999-12-31"}, "can have seen"),
    ],
)
def test_useless_spans_are_refused(cluster: HttpCluster, path: str, fields: dict[str, str], said: str) -> None:
    answer = cluster.user.get(path, fields=fields)
    assert answer.status == 400 and said in answer.message


def _csv(cluster: HttpCluster, name: str, fields: dict[str, str]) -> list[dict[str, str]]:
    answer = cluster.user.get(f"/resources/allocation/{name}", fields=fields)
    assert answer.status == 200, answer.raw
    assert answer.headers["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(answer.raw.decode())))
