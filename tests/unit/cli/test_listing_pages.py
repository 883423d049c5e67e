"""Pages, filters and orders of listings: what is asked of the master, and how often."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from recorded_master import Det, experiment, job, page, pool, project, trial, workspace
from small_master import SmallMaster


def _queries(master: SmallMaster, path: str) -> list[dict[str, list[str]]]:
    parts = [urlsplit(target) for method, target, _, _ in master.asked if method == "GET"]
    return [parse_qs(part.query) for part in parts if part.path == path]


def _three_pages(master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/experiments"] = [
        page("experiments", experiment(1), experiment(2), total=5, end=2),
        page("experiments", experiment(3), experiment(4), total=5, end=4),
        page("experiments", experiment(5), total=5, end=5),
    ]


def test_all_pages_are_read_in_turn(det: Det, master: SmallMaster) -> None:
    _three_pages(master)
    listed = json.loads(det("e", "list", "--limit", "2", "--json").out)
    assert [e["id"] for e in listed] == [1, 2, 3, 4, 5]
    asked = [(q["limit"], q["offset"]) for q in _queries(master, "/api/v1/experiments")]
    assert asked == [(["2"], ["0"]), (["2"], ["2"]), (["2"], ["4"])]


def test_one_page_is_one_request(det: Det, master: SmallMaster) -> None:
    _three_pages(master)
    listed = json.loads(det("e", "list", "--limit", "2", "--offset", "1", "--pages", "1", "--json").out)
    assert [e["id"] for e in listed] == [1, 2]
    [asked] = _queries(master, "/api/v1/experiments")
    assert (asked["limit"], asked["offset"]) == (["2"], ["1"])


def test_page_that_does_not_go_on_ends_the_listing(det: Det, master: SmallMaster) -> None:
    """A master that says there is more and sends nothing must not be asked for ever."""
    master.answers["GET", "/api/v1/experiments"] = page("experiments", total=9, end=0)
    assert det("e", "list", "--json").out == "[]\n"
    assert len(_queries(master, "/api/v1/experiments")) == 1


def test_own_experiments_are_listed_unless_all_are_wanted(det: Det, master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/experiments"] = page("experiments")
    det("e", "list")
    first = _queries(master, "/api/v1/experiments")[0]
    assert (first["users"], first["archived"]) == (["determined"], ["false"])
    det("e", "list", "--all")
    last = _queries(master, "/api/v1/experiments")[-1]
    assert "users" not in last and "archived" not in last


@pytest.mark.parametrize(
    ("flags", "asked"),
    [
        ([], {"sortBy": "SORT_BY_ID", "orderBy": "ORDER_BY_ASC", "limit": "200", "offset": "0"}),
        (["--sort-by", "name", "--order-by", "desc"], {"sortBy": "SORT_BY_NAME", "orderBy": "ORDER_BY_DESC"}),
        (["--limit", "3", "--offset", "4"], {"limit": "3", "offset": "4"}),
    ],
)
@pytest.mark.parametrize(
    ("words", "path", "key"),
    [
        (["w", "list"], "/api/v1/workspaces", "workspaces"),
        (["w", "list-projects", "lab"], "/api/v1/workspaces/7/projects", "projects"),
        (["p", "list", "lab"], "/api/v1/workspaces/7/projects", "projects"),
        (["p", "list-experiments", "lab", "vision"], "/api/v1/experiments", "experiments"),
    ],
)
def test_sort_flags_reach_the_master(
    det: Det,
    master: SmallMaster,
    words: list[str],
    path: str,
    key: str,
    flags: list[str],
    asked: dict[str, str],
) -> None:
    master.answers["GET", "/api/v1/workspaces"] = page("workspaces", workspace(7, "lab"))
    master.answers["GET", "/api/v1/workspaces/7/projects"] = page("projects", project(3, "vision"))
    if key == "experiments":
        master.answers["GET", path] = page(key)
    assert det(*words, *flags).status == 0
    query = _queries(master, path)[-1]
    assert {name: query[name] for name in asked} == {name: [value] for name, value in asked.items()}


@pytest.mark.parametrize(("flag", "value"), [("--sort-by", "size"), ("--order-by", "up"), ("--limit", "ten")])
def test_unknown_order_is_refused_before_the_master_is_asked(
    det: Det, master: SmallMaster, flag: str, value: str
) -> None:
    done = det("w", "list", flag, value)
    assert (done.status, master.asked) == (2, [])
    assert flag in done.err and repr(value) in done.err


def test_experiments_of_a_project_leave_archived_ones_out_unless_asked(det: Det, master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/workspaces"] = page("workspaces", workspace(7, "lab"))
    master.answers["GET", "/api/v1/workspaces/7/projects"] = page("projects", project(3, "vision"))
    master.answers["GET", "/api/v1/experiments"] = page("experiments")
    det("p", "list-experiments", "lab", "vision")
    det("p", "list-experiments", "lab", "vision", "-a")
    few, every = _queries(master, "/api/v1/experiments")
    assert (few["projectId"], few["archived"]) == (["3"], ["false"])
    assert "archived" not in every


def test_queue_of_the_default_pool_is_listed_and_a_named_one_on_request(det: Det, master: SmallMaster) -> None:
    pools = [pool("aux", defaultAuxPool=True), pool("gpus", defaultComputePool=True)]
    master.answers["GET", "/api/v1/resource-pools"] = (200, {"resourcePools": pools})
    master.answers["GET", "/api/v1/job-queues-v2"] = page("jobs")
    det("job", "list")
    det("job", "list", "-p", "aux", "--reverse")
    first, second = _queries(master, "/api/v1/job-queues-v2")
    assert (first["resourcePool"], first["orderBy"]) == (["gpus"], ["ORDER_BY_ASC"])
    assert (second["resourcePool"], second["orderBy"]) == (["aux"], ["ORDER_BY_DESC"])


def test_queue_of_a_fair_share_pool_shows_weights(det: Det, master: SmallMaster) -> None:
    shared = pool("default", "FAIR_SHARE", defaultComputePool=True)
    master.answers["GET", "/api/v1/resource-pools"] = (200, {"resourcePools": [shared]})
    master.answers["GET", "/api/v1/job-queues-v2"] = page("jobs", job("a", weight=2.5, priority=42))
    head, _, row = det("job", "list").out.splitlines()
    assert "Weight" in head and "Priority" not in head
    assert "2.5" in row and "42" not in row


def test_job_of_a_workspace_one_may_not_see_is_listed_without_its_name(det: Det, master: SmallMaster) -> None:
    hidden = {
        "allocatedSlots": 0,
        "isPreemptible": True,
        "jobId": "secret",
        "requestedSlots": 1,
        "resourcePool": "default",
        "type": "TYPE_EXPERIMENT",
        "workspaceId": 9,
    }
    master.answers["GET", "/api/v1/resource-pools"] = (200, {"resourcePools": []})
    master.answers["GET", "/api/v1/job-queues-v2"] = page("jobs", {"limited": hidden})
    row = det("job", "list").out.splitlines()[-1]
    assert "secret" in row and row.count("restricted") == 7


def test_pages_of_trials_and_workloads_are_asked_for_as_given(det: Det, master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/experiments/1"] = (200, {"experiment": experiment()})
    master.answers["GET", "/api/v1/experiments/1/trials"] = page("trials", trial(1), total=8, end=1)
    master.answers["GET", "/api/v1/trials/1"] = (200, {"trial": trial()})
    master.answers["GET", "/api/v1/trials/1/workloads"] = page("workloads", total=8, end=3)
    det("e", "list-trials", "1", "--limit", "1", "--pages", "1")
    det("t", "describe", "1", "--limit", "3", "--pages", "1")
    [trials], [workloads] = (
        _queries(master, f"/api/v1/{path}") for path in ("experiments/1/trials", "trials/1/workloads")
    )
    assert (trials["limit"], workloads["limit"]) == (["1"], ["3"])
