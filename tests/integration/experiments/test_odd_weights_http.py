"""Weights of jobs as text and as numbers that no share can be made of."""

import time
from typing import Any

import pytest


@pytest.fixture
def experiment(user: Any, submit: Any) -> dict[str, Any]:
    """Submit an experiment whose job is in the queue: the next pass of the scheduler puts it there."""
    made: dict[str, Any] = submit(user, activate=True)["experiment"]
    deadline = time.monotonic() + 60
    while made["jobId"] not in {job["jobId"] for job in user.get("/api/v1/job-queues").json["jobs"]}:
        assert time.monotonic() < deadline, "its job never came into the queue"
        time.sleep(0.01)
    return made


def weight_of(user: Any, experiment: dict[str, Any]) -> float:
    jobs = user.get("/api/v1/job-queues").json["jobs"]
    [job] = [job for job in jobs if job["jobId"] == experiment["jobId"]]
    return float(job["weight"])


def by_patch(client: Any, experiment: dict[str, Any], weight: Any) -> Any:
    return client.patch(f"/api/v1/experiments/{experiment['id']}", {"resources": {"weight": weight}})


def by_queue(client: Any, experiment: dict[str, Any], weight: Any) -> Any:
    return client.post("/api/v1/job-queues", {"updates": [{"jobId": experiment["jobId"], "weight": weight}]})


BOTH = pytest.mark.parametrize("change", [by_patch, by_queue])


@BOTH
def test_a_weight_that_no_share_can_be_made_of_is_refused_and_changes_nothing(
    admin: Any, experiment: dict[str, Any], change: Any
) -> None:
    for weight in ("NaN", "nan", "Infinity", "-Infinity", "inf", 0, -1, "0", "-0.0"):
        answer = change(admin, experiment, weight)
        assert answer.status == 400, (weight, answer.raw)
        assert "weight" in answer.message
        assert weight_of(admin, experiment) == 1


@BOTH
def test_a_weight_that_is_no_number_is_refused_with_its_field(
    admin: Any, experiment: dict[str, Any], change: Any
) -> None:
    for weight in ("heavy", [], {}, True, ""):
        answer = change(admin, experiment, weight)
        assert answer.status == 400, (weight, answer.raw)
        assert "weight" in answer.message


@BOTH
def test_a_weight_may_be_a_number_or_its_text(admin: Any, experiment: dict[str, Any], change: Any) -> None:
    for weight in (2, 3.5, "4", "5e0"):
        assert change(admin, experiment, weight).status == 200, weight
        assert weight_of(admin, experiment) == float(weight)
