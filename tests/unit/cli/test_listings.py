"""Every listing: what stands in its columns, and what it is when there is nothing, or something hostile, to list."""

import csv
import io
import json
import unicodedata
from typing import Any

import pytest
import yaml
from recorded_master import (
    SHOWN_TIME,
    TIME,
    Det,
    agent,
    checkpoint,
    experiment,
    job,
    page,
    pool,
    project,
    trial,
    user,
    workspace,
)
from small_master import SmallMaster

EVIL = "a\x1b]0;PWNED\x07b\x9b2Jc\u202ed\re"
LAB = {("GET", "/api/v1/workspaces"): page("workspaces", workspace(7, "lab"))}
POOLS = {("GET", "/api/v1/resource-pools"): (200, {"resourcePools": [pool("default", defaultComputePool=True)]})}
VISION = {**LAB, ("GET", "/api/v1/workspaces/7/projects"): page("projects", project(3, "vision"))}
LINK = {"agentUser": "x", "agentUid": 5, "agentGroup": "y", "agentGid": 6}
ONE = {("GET", "/api/v1/experiments/1"): (200, {"experiment": experiment()})}

# words, what else is asked, the path of the listing, its key, an item (its name), and the cells of its row
Case = tuple[list[str], dict[tuple[str, str], Any], str, str, Any, list[str]]
CASES: list[Case] = [
    (
        ["experiment"],
        {},
        "/api/v1/experiments",
        "experiments",
        lambda name: experiment(5, name=name, forkedFrom=3, progress=0.5, state="STATE_RUNNING", resourcePool="gpus"),
        ["5", "determined", "NAME", "3", "RUNNING", "50.0%", SHOWN_TIME, "N/A", "gpus"],
    ),
    (
        ["e", "list", "-a", "--show-project"],
        {},
        "/api/v1/experiments",
        "experiments",
        lambda name: experiment(5, name=name, workspaceName="lab", projectName="vision", archived=True, endTime=TIME),
        ["lab", "vision", "5", "determined", "NAME", "N/A", "COMPLETED", "N/A", SHOWN_TIME, SHOWN_TIME, "N/A", "True"],
    ),
    (
        ["e", "list-trials", "1"],
        ONE,
        "/api/v1/experiments/1/trials",
        "trials",
        lambda name: trial(9, hparams={"name": name}, state="STATE_ERROR", searcherMetricValue=0.25),
        ["9", "ERROR", '{"name": "NAME"}', SHOWN_TIME, "N/A", "10", "loss", "0.25", "N/A"],
    ),
    (
        ["e", "list-checkpoints", "1"],
        {},
        "/api/v1/experiments/1/checkpoints",
        "checkpoints",
        lambda name: checkpoint("u-1", 4, metric=0.5, resources={name: "2048"}),
        ["1", "4", "COMPLETED", "0.5", "u-1", '["NAME"]', "2.0KB"],
    ),
    (
        ["agent"],
        {},
        "/api/v1/agents",
        "agents",
        lambda name: agent(
            name,
            version="0.39",
            registeredTime=TIME,
            slots={"0": {"id": "0"}, "1": {"id": "1"}},
            resourcePools=["p", "q"],
            enabled=True,
            draining=False,
            addresses=["10.0.0.1"],
        ),
        ["NAME", "0.39", SHOWN_TIME, "2", "0", "p, q", "True", "False", "10.0.0.1"],
    ),
    (
        ["user"],
        {},
        "/api/v1/users",
        "users",
        lambda name: user("ann", displayName=name, agentUserGroup=LINK),
        ["ann", "NAME", "False", "True", "N/A", "x(5):y(6)", "N/A"],
    ),
    (
        ["workspace"],
        {},
        "/api/v1/workspaces",
        "workspaces",
        lambda name: workspace(7, name, agentUserGroup={"agentUser": "u", "agentGroup": "g"}, defaultComputePool="p"),
        ["7", "NAME", "2", "u:g", "p", "N/A", "False"],
    ),
    (
        ["project", "list", "lab"],
        LAB,
        "/api/v1/workspaces/7/projects",
        "projects",
        lambda name: project(3, "vision", description=name),
        ["3", "vision", "NAME", "4", "1", "False"],
    ),
    (
        ["project", "list-experiments", "lab", "vision"],
        VISION,
        "/api/v1/experiments",
        "experiments",
        lambda name: experiment(5, name=name, progress=1.0, endTime=TIME),
        ["5", "determined", "NAME", "COMPLETED", "100.0%", SHOWN_TIME, SHOWN_TIME],
    ),
    (
        ["resource-pool"],
        {},
        "/api/v1/resource-pools",
        "resourcePools",
        lambda name: pool(
            "gpus", "FAIR_SHARE", description=name, numAgents=2, slotsAvailable=8, slotsUsed=3, defaultAuxPool=True
        ),
        ["gpus", "NAME", "2", "8", "3", "fair_share", "aux"],
    ),
    (
        ["token"],
        {},
        "/api/v1/tokens",
        "tokenInfo",
        lambda name: {"id": 4, "userId": 2, "description": name, "createdAt": TIME, "expiry": TIME, "revoked": False},
        ["4", "2", "NAME", SHOWN_TIME, SHOWN_TIME, "False"],
    ),
    (
        ["job"],
        POOLS,
        "/api/v1/job-queues-v2",
        "jobs",
        lambda name: job(
            name, priority=42, summary={"jobsAhead": 1, "state": "STATE_QUEUED"}, allocatedSlots=1, reason="no slot"
        ),
        ["1", "NAME-id", "EXPERIMENT", "NAME", "42", SHOWN_TIME, "1/2", "QUEUED", "determined", "no slot"],
    ),
    (
        ["workspace", "list-pools", "lab"],
        LAB,
        "/api/v1/workspaces/7/available-resource-pools",
        "resourcePools",
        lambda name: name,
        ["NAME"],
    ),
]
IDS = [" ".join(case[0]) for case in CASES]


def _record(master: SmallMaster, case: Case, *names: str) -> list[str]:
    words, others, path, key, item, _ = case
    master.answers.update(others)
    master.answers["GET", path] = page(key, *(item(name) for name in names))
    return words


def _expected(case: Case, name: str) -> list[str]:
    return [cell.replace("NAME", name) for cell in case[-1]]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_row_has_the_cells_of_its_columns_in_csv_and_in_the_table(det: Det, master: SmallMaster, case: Case) -> None:
    words = _record(master, case, "first")
    headers, row = csv.reader(io.StringIO(det(*words, "--csv").out))
    assert row == _expected(case, "first")
    assert len(row) == len(headers)
    lines = det(*words).out.splitlines()
    assert [h.strip() for h in lines[0].split(" | ")] == headers
    assert [c.strip() for c in lines[2].split(" | ")] == row
    assert len(lines) == 3


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_nothing_to_list_is_an_empty_list_and_no_error(det: Det, master: SmallMaster, case: Case) -> None:
    words = _record(master, case)
    assert len(det(*words).out.splitlines()) == 2, "the headers and a rule"
    assert len(det(*words, "--csv").out.splitlines()) == 1
    assert json.loads(det(*words, "--json").out) == []
    assert yaml.safe_load(det(*words, "--yaml").out) == []
    assert det(*words).status == 0


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_hostile_name_does_nothing_to_the_terminal_and_is_whole_in_json(
    det: Det, master: SmallMaster, case: Case
) -> None:
    words = _record(master, case, EVIL)
    for form in ([], ["--csv"], ["--yaml"], ["--json"]):
        done = det(*words, *form, watched=True)
        bad = [c for c in done.out if unicodedata.category(c) in ("Cc", "Cf") and c not in "\r\n"]
        assert (done.status, bad) == (0, []), form
    assert json.dumps(EVIL)[1:-1] in json.dumps(json.loads(det(*words, "--json").out))


@pytest.mark.parametrize("case", [case for case in CASES if case[0] != ["user"]], ids=lambda case: " ".join(case[0]))
def test_rows_keep_the_order_of_the_master(det: Det, master: SmallMaster, case: Case) -> None:
    words = _record(master, case, "zebra", "ape", "mouse")
    for form in ([], ["--csv"], ["--json"], ["--yaml"]):
        out = det(*words, *form).out
        assert out.index("zebra") < out.index("ape") < out.index("mouse"), form


def test_users_are_sorted_by_name_in_the_table(det: Det, master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/users"] = page("users", user("zoe"), user("ann"))
    assert [line.split()[0] for line in det("user").out.splitlines()[2:]] == ["ann", "zoe"]
