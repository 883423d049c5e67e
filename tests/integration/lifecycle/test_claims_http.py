"""Launch files for sitters on other hosts: who gets one, how often, and what is written down."""

from collections.abc import Callable
from typing import Any

import pytest
from http_cluster import HttpCluster, resources

from determined._bound_address import of_url
from determined.engines.model import Launch
from determined.wire.claim import ClaimRequest, answer_proof, claim_proof
from determined.wire.codec import to_json


@pytest.fixture
def cluster(start_master: Callable[..., Any], db_url: str) -> HttpCluster:
    return HttpCluster(start_master, db_url, nodes={"a": 2, "b": 2})


def test_ticket_is_exchanged_for_a_launch_file_that_works(cluster: HttpCluster) -> None:
    cluster.submit()
    [launch] = cluster.launched()
    answer = _claim(cluster, launch, "ann")
    assert answer.status == 200, answer.raw
    file = answer.json["launch"]
    assert (file["resourceId"], file["token"], file["nodeId"]) == (
        launch.resource_id,
        launch.token,
        launch.node_id,
    )
    assert (file["slotIds"], file["rank"], file["masterUrl"]) == ([0], 0, launch.master_url)
    assert answer.json["proof"] == answer_proof(launch.ticket, "ann")
    assert cluster.task(launch).get(resources(launch) + "/spec").status == 200


def test_same_claimant_is_answered_again_and_another_refused(cluster: HttpCluster) -> None:
    cluster.submit()
    [launch] = cluster.launched()
    first = _claim(cluster, launch, "ann")
    assert _claim(cluster, launch, "ann").json == first.json
    other = _claim(cluster, launch, "bob")
    assert other.status == 409
    assert "begun before" in other.message
    assert _claim(cluster, launch, "ann").status == 200


def test_ranks_are_claimed_apart_and_ranks_that_do_not_exist_are_not_found(cluster: HttpCluster) -> None:
    cluster.submit(resources={"slots_per_trial": 4})
    launches = sorted(cluster.launched(2), key=lambda launch: launch.rank)
    assert [launch.size for launch in launches] == [2, 2]
    files = [_claim(cluster, launch, f"sitter-{launch.rank}").json["launch"] for launch in launches]
    assert [file["resourceId"] for file in files] == [launch.resource_id for launch in launches]
    missing = _claim(cluster, launches[0], "carl", rank=2)
    assert missing.status == 404
    assert "none of rank 2" in missing.message


def test_whoever_has_not_the_ticket_learns_nothing(cluster: HttpCluster) -> None:
    cluster.submit()
    cluster.submit()
    one, other = cluster.launched(2)
    assert _claim(cluster, one, "ann", ticket=other.ticket).status == 401
    assert _claim(cluster, one, "ann", ticket="").status == 401
    # Whether an allocation exists is nothing a stranger may ask.
    assert _claim(cluster, one, "ann", allocation_id="nothing.1").status == 401
    # A proof that was overheard names its claimant and its rank.
    proof = claim_proof(one.ticket, "ann", 0, of_url(one.master_url))
    assert _claim(cluster, one, "bob", proof=proof).status == 401
    assert _claim(cluster, one, "ann", rank=1, proof=proof).status == 401


def test_claim_that_was_sent_to_another_address_and_passed_on_gets_no_token(cluster: HttpCluster) -> None:
    cluster.submit()
    [launch] = cluster.launched()
    relayed = claim_proof(launch.ticket, "ann", launch.rank, of_url("http://127.0.0.1:1"))
    answer = _claim(cluster, launch, "ann", proof=relayed)
    assert (answer.status, launch.token in str(answer.json)) == (401, False)
    assert _claim(cluster, launch, "ann").status == 200


@pytest.mark.parametrize("how", ["killed", "exited"])
def test_allocation_that_is_over_is_gone(cluster: HttpCluster, how: str) -> None:
    experiment = cluster.submit()
    [launch] = cluster.launched()
    if how == "killed":
        assert cluster.user.post(f"/api/v1/experiments/{experiment}/kill").status == 200
    else:
        cluster.run(launch)
        cluster.leave(launch)
    answer = _claim(cluster, launch, "ann")
    assert answer.status == 410
    assert "nothing to begin" in answer.message


def test_claims_survive_a_restart_of_the_master(start_master: Callable[..., Any], db_url: str) -> None:
    cluster = HttpCluster(start_master, db_url, nodes={"a": 2})
    cluster.submit()
    [launch] = cluster.launched()
    first = _claim(cluster, launch, "ann").json["launch"]
    cluster.master.stop()
    again = HttpCluster(start_master, db_url, nodes={"a": 2})
    assert again.launched()[0].ticket == launch.ticket
    assert _claim(again, launch, "bob").status == 409
    answer = _claim(again, launch, "ann").json["launch"]
    assert answer["token"] == first["token"]
    assert answer["resourceId"] == first["resourceId"]


def test_where_a_sitter_says_it_is_is_where_its_runner_is(cluster: HttpCluster) -> None:
    cluster.submit()
    [launch] = cluster.launched()
    told = {"node_id": "b", "address": "10.1.2.3", "slot_ids": [1]}
    file = _claim(cluster, launch, "ann", **told).json["launch"]
    assert (file["nodeId"], file["slotIds"]) == ("b", [1])
    task = cluster.task(launch)
    assert task.get(resources(launch) + "/rendezvous").json["rendezvousInfo"]["addresses"] == ["10.1.2.3"]
    agents = {agent["id"]: agent for agent in cluster.user.get("/api/v1/agents").json["agents"]}
    used = {name: [s["id"] for s in agent["slots"].values() if s["container"]] for name, agent in agents.items()}
    assert used == {"a": [], "b": ["1"]}
    logs = cluster.user.get("/api/v1/trials/1/logs").raw
    assert b"rank 0 runs on b slots [1]" in logs


def test_later_claim_of_the_same_sitter_moves_nothing(cluster: HttpCluster) -> None:
    cluster.submit()
    [launch] = cluster.launched()
    _claim(cluster, launch, "ann", node_id="b")
    assert _claim(cluster, launch, "ann", node_id="elsewhere").json["launch"]["nodeId"] == "b"


def test_address_that_runners_are_told_is_the_advertised_one(start_master: Callable[..., Any], sqlite_url: str) -> None:
    cluster = HttpCluster(start_master, sqlite_url, nodes={"a": 1}, advertised_url="http://master.example:8080/")
    cluster.submit()
    [launch] = cluster.launched()
    assert launch.master_url == "http://master.example:8080"
    assert _claim(cluster, launch, "ann").json["launch"]["masterUrl"] == launch.master_url


def _claim(cluster: HttpCluster, launch: Launch, claimant: str, **changes: Any) -> Any:
    rank = changes.pop("rank", launch.rank)
    proof = claim_proof(changes.pop("ticket", launch.ticket), claimant, rank, of_url(cluster.master.url))
    known = {"allocation_id": launch.allocation_id, "rank": rank, "claimant": claimant, "proof": proof}
    return cluster.master.anonymous.post("/api/v1/claims", to_json(ClaimRequest(**{**known, **changes})))
