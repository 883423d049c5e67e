"""Dry runs: problems beside their lines, the cost of a search, and whether it would start now."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest
from http_cluster import HttpCluster, eventually

from determined.master.services import search

SOUND = """\
name: tuned
entrypoint: python3 train.py
hyperparameters:
  lr: {type: log, base: 10, minval: -4, maxval: -1}
searcher:
  name: random
  metric: loss
  max_trials: 6
  max_length: {batches: 100}
resources:
  slots_per_trial: 1
"""


@pytest.fixture
def cluster(start_master: Callable[..., Any], sqlite_url: str) -> HttpCluster:
    return HttpCluster(start_master, sqlite_url, nodes={"a": 2})


@pytest.fixture
def on_both(start_master: Callable[..., Any], db_url: str) -> HttpCluster:
    return HttpCluster(start_master, db_url, nodes={"a": 2})


def dry_run(cluster: HttpCluster, config: Any = SOUND, **more: Any) -> dict[str, Any]:
    answer = cluster.user.post("/api/v1/experiments/dry-run", {"config": config, **more})
    assert answer.status == 200, answer.raw
    found: dict[str, Any] = answer.json
    return found


def places(found: dict[str, Any]) -> list[tuple[str, int | None]]:
    return [(problem["path"], problem["line"]) for problem in found["problems"]]


def test_a_sound_config_tells_what_it_costs_and_that_it_starts(on_both: HttpCluster) -> None:
    found = dry_run(on_both)
    assert found["problems"] == []
    assert found["trials"] == {"min": 6, "max": 6, "exact": True}
    assert found["units"] == {"total": 600, "name": "batches", "exact": True}
    assert (found["slotsPerTrial"], found["maxSlots"], found["pool"]) == (1, 6, "default")
    assert (found["starts"], found["reason"]) == ("now", None)
    assert found["text"] == SOUND and found["submitted"]["searcher"]["max_trials"] == 6
    assert found["config"]["max_restarts"] == 5, "defaults are filled in"
    assert on_both.user.get("/api/v1/experiments").json["experiments"] == [], "nothing is stored"


def test_a_full_pool_makes_it_wait_and_says_for_what(on_both: HttpCluster) -> None:
    on_both.submit(resources={"slots_per_trial": 2})
    on_both.launched()
    found = dry_run(on_both)
    assert found["starts"] == "waits"
    assert "waits for 1 free slot in pool 'default': 0 of 2 free" in found["reason"]


def test_every_violation_stands_beside_its_line(cluster: HttpCluster) -> None:
    wrong = SOUND.replace("max_trials: 6", "max_trials: -1").replace("slots_per_trial: 1", "slots_per_trail: 1")
    found = dry_run(cluster, wrong)
    assert places(found) == [("resources.slots_per_trail", 11), ("searcher.max_trials", 8)]
    unknown, low = found["problems"]
    assert "did you mean `slots_per_trial`" in unknown["message"] and low["value"] == -1
    assert found["submitted"]["name"] == "tuned" and found["config"] is None and found["trials"] is None


def test_what_is_missing_is_shown_where_it_should_be(cluster: HttpCluster) -> None:
    found = dry_run(cluster, SOUND.replace("  metric: loss\n", "").replace("entrypoint: python3 train.py\n", ""))
    assert places(found) == [("searcher.metric", 4), ("entrypoint", None)]


def test_text_that_is_not_yaml_names_its_line(cluster: HttpCluster) -> None:
    assert places(dry_run(cluster, "name: a\nsearcher: [1,\n")) == [("", 3)]
    assert places(dry_run(cluster, "name: a\nname: b\n")) == [("", 2)]
    assert "empty" in dry_run(cluster, "")["problems"][0]["message"]
    assert "mapping" in dry_run(cluster, "- a")["problems"][0]["message"]


def test_pools_projects_slots_and_checkpoints_that_do_not_exist_are_problems(cluster: HttpCluster) -> None:
    pool = SOUND.replace("slots_per_trial: 1", "resource_pool: nowhere")
    assert places(dry_run(cluster, pool)) == [("resources.resource_pool", 11)]
    slots = dry_run(cluster, SOUND.replace("slots_per_trial: 1", "slots_per_trial: 5"))
    assert places(slots) == [("resources.slots_per_trial", 11)] and "lower it to 2" in slots["problems"][0]["message"]
    source = SOUND.replace(
        "  max_trials: 6", "  max_trials: 6\n  source_checkpoint_uuid: 11111111-1111-1111-1111-111111111111"
    )
    assert places(dry_run(cluster, source)) == [("searcher.source_checkpoint_uuid", 9)]
    assert places(dry_run(cluster, SOUND + "workspace: a\nproject: b\n")) == [("project", 13)]
    assert places(dry_run(cluster, projectId=99)) == [("project", None)]
    assert places(dry_run(cluster, template="t")) == [("template", None)]


def test_an_object_comes_back_as_text_and_searches_that_decide_themselves_are_warned_of(cluster: HttpCluster) -> None:
    config = {"name": "n", "entrypoint": "x", "searcher": {"name": "custom", "metric": "loss"}, "hyperparameters": {}}
    found = dry_run(cluster, config)
    assert found["text"].startswith("name: n\nentrypoint: x\n")
    assert found["trials"] == {"min": None, "max": None, "exact": False}
    assert any("cannot be previewed" in text for text in found["warnings"])
    assert found["starts"] == "now"


def test_a_fork_keeps_its_parents_secrets_to_itself(cluster: HttpCluster) -> None:
    secret = {"registry_auth": {"username": "u", "password": "hunter2"}}
    parent = cluster.submit(activate=False, environment=secret)
    text = cluster.user.get(f"/api/v1/experiments/{parent}").json["experiment"]["originalConfig"]
    assert "hunter2" not in text
    found = dry_run(cluster, text, parentId=parent)
    assert found["problems"] == [] and "hunter2" not in str(found)
    assert "is not a secret" in dry_run(cluster, text)["problems"][0]["message"]


def test_a_queued_job_is_told_when_it_may_start(on_both: HttpCluster) -> None:
    on_both.submit(resources={"slots_per_trial": 2})
    [launch] = on_both.launched()
    on_both.run(launch)
    for _ in range(2):
        on_both.submit(resources={"slots_per_trial": 1})

    def queued() -> list[dict[str, Any]]:
        jobs = [job["full"] for job in on_both.user.get("/api/v1/job-queues-v2").json["jobs"]]
        return [job for job in jobs if job["summary"]["state"] == "STATE_QUEUED"]

    eventually(lambda: [bool(job["reason"]) for job in queued()] == [True, True])
    assert [job["eta"] for job in queued()] == [None, None], "nobody knows before there is some progress"
    assert on_both.user.post("/api/v1/trials/1/progress", {"progress": 0.5, "isRaw": True}).status == 200
    first, second = queued()
    assert first["eta"] is not None and first["eta"] == second["eta"]
    assert first["eta"] > first["submissionTime"] and first["reason"]


def test_a_job_that_cannot_start_is_told_no_time_and_disabled_slots_are_not_free(on_both: HttpCluster) -> None:
    def queued() -> list[dict[str, Any]]:
        jobs = [job["full"] for job in on_both.user.get("/api/v1/job-queues-v2").json["jobs"]]
        return [job for job in jobs if job["summary"]["state"] == "STATE_QUEUED"]

    def free() -> int:
        pools = on_both.user.get("/api/v1/resource-pools").json["resourcePools"]
        return sum(pool["slotsFree"] for pool in pools)

    before = free()
    on_both.submit(resources={"slots_per_trial": 1})
    [launch] = on_both.launched()
    on_both.run(launch)
    assert free() == before - 1
    assert on_both.user.post("/api/v1/trials/1/progress", {"progress": 0.5, "isRaw": True}).status == 200
    agent = on_both.admin.get("/api/v1/agents").json["agents"][0]["id"]
    assert on_both.admin.post(f"/api/v1/agents/{agent}/disable", {"drain": True}).status == 200
    on_both.submit(resources={"slots_per_trial": 1})
    eventually(lambda: [str(job["reason"]).startswith("cannot start") for job in queued()] == [True])
    assert [job["eta"] for job in queued()] == [None]
    assert free() == 0


def test_a_config_that_is_too_deep_or_too_large_is_answered(cluster: HttpCluster) -> None:
    deep: dict[str, Any] = {}
    for _ in range(400):
        deep = {"a": deep}
    assert "nested" in dry_run(cluster, deep)["problems"][0]["message"]
    assert "nested" in dry_run(cluster, "a: " + "[" * 400 + "]" * 400)["problems"][0]["message"]
    strange = {"resources": {"x[" + "9" * 5000 + "]": 1}}
    assert "not allowed" in dry_run(cluster, strange)["problems"][0]["message"]
    answer = cluster.user.post("/api/v1/experiments/dry-run", {"config": "#" * 600_000})
    assert answer.status == 413 and "send less" in answer.message


def test_the_same_search_is_simulated_once(cluster: HttpCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    simulated: list[Any] = []
    real = search._summarize
    monkeypatch.setattr(search, "_recent", OrderedDict())
    monkeypatch.setattr(search, "_summarize", lambda active: simulated.append(active) or real(active))
    first = dry_run(cluster)
    assert dry_run(cluster, SOUND + "description: another\n")["trials"] == first["trials"]
    assert len(simulated) == 1
    assert dry_run(cluster, SOUND.replace("max_trials: 6", "max_trials: 7"))["trials"]["max"] == 7
    assert len(simulated) == 2
