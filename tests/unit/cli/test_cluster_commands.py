"""Agents, slots, tasks, the queue, pools, past use and previews: what is asked, and what is said of the answer."""

import csv
import io
import json
import shutil
from typing import Any

import pytest
from recorded_master import SHOWN_TIME, TIME, Det, agent, error, page, workspace
from small_master import SmallMaster

from determined._version import __version__
from determined.constants import API_VERSION


def _bodies(master: SmallMaster, request: str) -> list[Any]:
    return [json.loads(body) for method, path, _, body in master.asked if f"{method} {path}" == request]


def test_agents_are_enabled_and_disabled_one_by_one_or_all(det: Det, master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/agents"] = page("agents", agent("a"), agent("b"))
    for name in ("a", "b"):
        master.answers["POST", f"/api/v1/agents/{name}/enable"] = (200, {})
        master.answers["POST", f"/api/v1/agents/{name}/disable"] = (200, {})
    assert det("agent", "enable", "--all").out == "Enabled agent a\nEnabled agent b\n"
    assert det("agent", "disable", "a", "--drain").out == "Disabled agent a\n"
    assert det("agent", "disable", "b").out == "Disabled agent b\n"
    assert [_bodies(master, f"POST /api/v1/agents/{name}/disable")[0]["drain"] for name in "ab"] == [True, False]
    assert [a["id"] for a in json.loads(det("agent", "disable", "b", "--json").out)] == ["b"]


def test_agent_of_the_masters_version_is_listed_with_the_masters_own_number(det: Det, master: SmallMaster) -> None:
    agents = agent("a", version=API_VERSION), agent("b", version="0.1.0")
    master.answers["GET", "/api/v1/agents"] = page("agents", *agents)
    rows = list(csv.DictReader(io.StringIO(det("agent", "list", "--csv").out)))
    assert [row["Version"] for row in rows] == [__version__, "0.1.0"]
    assert [a["version"] for a in json.loads(det("agent", "list", "--json").out)] == [API_VERSION, "0.1.0"]


def test_agent_name_with_a_slash_stays_one_name(det: Det, master: SmallMaster) -> None:
    master.answers["POST", "/api/v1/agents/rack%2F1/enable"] = (200, {})
    assert det("agent", "enable", "rack/1").status == 0


def test_agent_that_is_not_there_ends_the_command_at_it(det: Det, master: SmallMaster) -> None:
    master.answers["POST", "/api/v1/agents/x/disable"] = error(404, "not_found", "agent x not found")
    done = det("agent", "disable", "x")
    assert (done.status, done.out, done.err) == (1, "", "Failed to disable agent: agent x not found\n")


def _slot(number: str, container: str | None, **changes: Any) -> dict[str, Any]:
    held = {"container": {"id": container, "state": "STATE_RUNNING"}} if container else {}
    device = {"type": "TYPE_CUDA", "brand": "H200"}
    return {"id": number, "enabled": True, "draining": False, "device": device, **held, **changes}


def test_slots_tell_what_holds_them(det: Det, master: SmallMaster) -> None:
    slots = {"0": _slot("0", "c-1"), "1": _slot("1", "c-2"), "2": _slot("2", None, device=None, enabled=False)}
    master.answers["GET", "/api/v1/agents"] = page("agents", agent("a", resourcePools=["p"], slots=slots))
    task = {"name": "Trial 1", "resources": [{"container_id": "c-1"}, {"container_id": None}]}
    master.answers["GET", "/tasks"] = (200, {"alloc.1": task})
    rows = list(csv.DictReader(io.StringIO(det("slot", "--csv").out)))
    assert [(r["Slot ID"], r["Allocation ID"], r["Task Name"]) for r in rows] == [
        ("0", "alloc.1", "Trial 1"),
        ("1", "OCCUPIED", "N/A"),
        ("2", "FREE", "N/A"),
    ]
    shown = [(r["Type"], r["Device"], r["Enabled"]) for r in rows[1:]]
    assert shown == [("cuda", "H200", "True"), ("N/A", "N/A", "False")]
    assert [row["Slot ID"] for row in json.loads(det("slot", "--json").out)] == ["0", "1", "2"]
    master.answers["GET", "/api/v1/agents"] = page("agents")
    assert json.loads(det("slot", "--json").out) == []


def test_tasks_are_sorted_by_allocation_and_tell_agents_and_ports(det: Det, master: SmallMaster) -> None:
    held = {
        "task_id": "t.1",
        "name": "Trial 1",
        "slots_needed": 2,
        "registered_time": TIME,
        "resource_pool": "p",
        "priority": 42,
        "scheduler_type": "priority",
        "resources": [{"agent_devices": {"b": {}}}, {"agent_devices": {"a": {}}}, {}],
        "proxy_ports": [{"port": 80}, {"port": 81}],
    }
    master.answers["GET", "/tasks"] = (200, {"z.1": held, "a.1": {"task_id": "t.2"}})
    rows = list(csv.reader(io.StringIO(det("task", "list", "--csv").out)))[1:]
    assert rows == [
        ["t.2", "a.1", "N/A", "N/A", "N/A", "unassigned", "N/A", "N/A", ""],
        ["t.1", "z.1", "Trial 1", "2", SHOWN_TIME, "a, b", "42", "p", "80, 81"],
    ]
    assert set(json.loads(det("task", "--json").out)) == {"z.1", "a.1"}


@pytest.mark.parametrize(
    ("flags", "change"),
    [
        (["--priority", "7"], {"priority": 7}),
        (["--weight", "1.5"], {"weight": 1.5}),
        (["--resource-pool", "p"], {"resourcePool": "p"}),
        (["--ahead-of", "k"], {"aheadOf": "k"}),
        (["--behind-of", "k"], {"behindOf": "k"}),
    ],
)
def test_job_is_changed_alone_and_in_a_batch_alike(
    det: Det, master: SmallMaster, flags: list[str], change: dict[str, Any]
) -> None:
    master.answers["POST", "/api/v1/job-queues"] = (200, {})
    assert det("job", "update", "my.job", *flags).out == "Updated job my.job\n"
    operation = f"my.job.{flags[0].removeprefix('--')}={flags[1]}"
    assert det("job", "update-batch", operation, "other.priority=1").out == "Updated 2 job(s)\n"
    alone, together = (body["updates"] for body in _bodies(master, "POST /api/v1/job-queues"))
    assert {k: v for k, v in alone[0].items() if v is not None} == {"jobId": "my.job", **change}
    assert together[0] == alone[0] and together[1]["jobId"] == "other"


@pytest.mark.parametrize(
    ("verb", "method", "said"),
    [
        ("add", "POST", "Bound to lab (gpus)"),
        ("remove", "DELETE", "No longer bound to lab (gpus)"),
        ("replace", "PUT", "Now bound to exactly lab (gpus)"),
    ],
)
def test_pool_is_bound_by_the_names_of_workspaces(
    det: Det, master: SmallMaster, verb: str, method: str, said: str
) -> None:
    master.answers["GET", "/api/v1/workspaces"] = page("workspaces", workspace(7, "lab"))
    master.answers[method, "/api/v1/resource-pools/gpus/workspace-bindings"] = (200, {})
    assert det("rp", "bindings", verb, "gpus", "lab").out == f"{said}\n"
    [body] = _bodies(master, f"{method} /api/v1/resource-pools/gpus/workspace-bindings")
    assert (body["resourcePoolName"], body["workspaceIds"]) == ("gpus", [7])
    refused = det("rp", "bindings", verb, "gpus", "lab", "none")
    assert (refused.status, "workspace 'none' does not exist" in refused.err) == (1, True)


def test_workspaces_of_a_pool_are_named(det: Det, master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/resource-pools/gpus/workspace-bindings"] = (200, {"workspaceIds": [7]})
    master.answers["GET", "/api/v1/workspaces/7"] = (200, {"workspace": workspace(7, "lab")})
    listed = det("rp", "bindings", "list-workspaces", "gpus", "--csv").out
    assert list(csv.reader(io.StringIO(listed)))[1] == ["7", "lab"]


def test_past_use_is_summed_by_user_label_and_pool(det: Det, master: SmallMaster) -> None:
    entry = {
        "periodStart": "2026-11-01",
        "period": "RESOURCE_ALLOCATION_AGGREGATION_PERIOD_MONTHLY",
        "seconds": 30.0,
        "byUsername": {"bob": 20.0, "ann": 10.0},
        "byExperimentLabel": {"night": 5.0},
        "byResourcePool": {"gpus": 30.0},
    }
    master.answers["GET", "/api/v1/resources/allocation/aggregated"] = (200, {"resourceEntries": [entry]})
    rows = list(csv.reader(io.StringIO(det("res", "agg", "2026-11-01", "2026-11-30", "--monthly", "--csv").out)))[1:]
    assert [row[1:] for row in rows] == [
        ["total", "total", "30.0"],
        ["username", "ann", "10.0"],
        ["username", "bob", "20.0"],
        ["pool", "gpus", "30.0"],
        ["label", "night", "5.0"],
    ]
    assert "period=RESOURCE_ALLOCATION_AGGREGATION_PERIOD_MONTHLY" in master.paths()[-1]
    det("res", "agg", "2026-11-01", "2026-11-30")
    assert "period=RESOURCE_ALLOCATION_AGGREGATION_PERIOD_DAILY" in master.paths()[-1]


def test_raw_use_is_the_masters_csv_made_harmless(det: Det, master: SmallMaster) -> None:
    master.answers["GET", "/resources/allocation/allocations-csv"] = (200, b"a,b\n1,\x1b[2J\n")
    assert det("res", "raw", "T1", "T2").out == "a,b\n1,\\x1b[2J\n"
    assert "timestampAfter=T1&timestampBefore=T2" in master.paths()[-1]


def _preview(**changes: Any) -> tuple[int, Any]:
    return 200, {"summary": {"config": {"name": "asha"}, "slotsPerTrial": 2, "maxSlots": 8, **changes}}


def test_preview_tells_lengths_slots_and_the_sum(det: Det, master: SmallMaster, surroundings: Any) -> None:
    (surroundings / "c.yaml").write_text("searcher: {name: asha}\n")
    unit = {"maxLength": False, "name": "batches", "value": 90}
    trials = [{"count": 3, "unit": unit, "lengths": [10, 30, 90]}, {"count": 1, "unit": {**unit, "value": 10}}]
    master.answers["POST", "/api/v1/preview-hp-search"] = _preview(trials=trials, totalTrials=4, totalUnits=280)
    lines = det("preview-search", "c.yaml").out.splitlines()
    assert lines[0] == "Searcher asha would run 4 trial(s):"
    assert lines[3:] == [
        "      3 | 90 batches, validated at 10, 30 on the way",
        "      1 | 10 batches",
        "Slots: 2 per trial, at most 8 at once",
        "Total training: about 280 batches",
    ]


def test_preview_of_trials_that_know_their_own_end_says_so(det: Det, master: SmallMaster, surroundings: Any) -> None:
    (surroundings / "c.yaml").write_text("searcher: {name: random}\n")
    trials = [{"count": 1, "unit": {"maxLength": True}}]
    master.answers["POST", "/api/v1/preview-hp-search"] = _preview(trials=trials, totalTrials=1)
    out = det("preview-search", "c.yaml").out
    assert "1 | to an end that the trial decides" in out
    assert out.endswith("Total training: not known, for the config does not say how long a trial trains\n")
    missing = det("preview-search", "none.yaml")
    assert (missing.status, "usage: det preview-search CONFIG_FILE" in missing.err) == (2, True)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl_sends_the_token_on_standard_input_and_keeps_its_status(det: Det, master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/x"] = (200, {"a": 1})
    done = det("dev", "curl", "-x", "api/v1/x")
    assert (done.status, json.loads(done.out)) == (0, {"a": 1})
    assert "FRESH" not in done.err and f"{master.url}/api/v1/x" in done.err
    assert master.tokens()[-1] == "Bearer FRESH"
    assert "\n  " not in done.out and '{\n  "a": 1\n}' in det("dev", "curl", "api/v1/x", watched=True).out
    assert det("dev", "curl", "/api/v1/none", "--fail").status == 22


def test_settings_of_the_masters_log_are_sent_with_their_names(det: Det, master: SmallMaster) -> None:
    master.answers["PATCH", "/api/v1/master/config"] = (200, {})
    assert det("master", "config", "set", "--log.color", "off").out == "Set log.color\n"
    both = det("master", "config", "set", "--log.level", "DEBUG", "--log.color", "on")
    assert both.out == "Set log.level, log.color\n"
    first, second = _bodies(master, "PATCH /api/v1/master/config")
    assert first["fieldMask"] == {"paths": ["log.color"]} and first["config"]["log"]["color"] is False
    assert second["config"]["log"] == {"color": True, "level": "LOG_LEVEL_DEBUG"}


def test_removed_logs_are_counted(det: Det, master: SmallMaster) -> None:
    master.answers["POST", "/api/v1/cleanup_logs"] = (200, {"removedCount": "3"})
    assert det("task", "cleanup-logs").out == "Removed the logs of 3 task(s)\n"


@pytest.mark.parametrize(("flags", "days", "said"), [(["--days", "3"], 3, "3 days"), (["--forever"], -1, "forever")])
@pytest.mark.parametrize("noun", ["experiment", "trial"])
def test_retention_of_logs_is_in_days_or_for_ever(
    det: Det, master: SmallMaster, noun: str, flags: list[str], days: int, said: str
) -> None:
    master.answers["PUT", f"/api/v1/{noun}s/1/retain_logs"] = (200, {})
    assert det(noun, "set", "log-retention", "1", *flags).out == f"Logs of {noun} 1 are kept {said}\n"
    assert _bodies(master, f"PUT /api/v1/{noun}s/1/retain_logs")[0]["numDays"] == days
