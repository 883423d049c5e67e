"""A real master proves to a runner that it minted the runner's token."""

import secrets
from pathlib import Path
from typing import Any

import pytest

from determined.errors import Unavailable
from determined.exec.master_link import STALE, MasterLink
from determined.master.auth import allocation_token
from determined.wire.allocation_proof import allocation_proof, question
from determined.wire.codec import to_json
from determined.wire.report import LaunchFile


def link(url: str, token: str, place: Path) -> MasterLink:
    launch = LaunchFile(
        master_url=url, token=token, allocation_id="1.x.1", resource_id="r", container_id="c", node_id="n", rank=0,
        slot_ids=[0], device="cpu",
    )  # fmt: skip
    path = place / "launch.json"
    path.write_bytes(to_json(launch))
    return MasterLink(path)


def test_master_of_another_cluster_is_not_believed(start_master: Any, sqlite_url: str, tmp_path: Path) -> None:
    master = start_master(sqlite_url)
    with pytest.raises(Unavailable, match="not the master of this task"):
        link(master.url, allocation_token.mint(b"another secret", "1.x.1"), tmp_path).spec()


def test_master_that_proves_itself_is_believed_when_it_knows_no_such_allocation(
    start_master: Any, sqlite_url: str, tmp_path: Path
) -> None:
    master = start_master(sqlite_url)
    token = allocation_token.mint(master.ctx.cluster.secret, "1.x.1")
    with pytest.raises(STALE):
        link(master.url, token, tmp_path).spec()


def test_proof_is_of_the_challenge_and_the_allocation(start_master: Any, sqlite_url: str) -> None:
    master = start_master(sqlite_url)
    nonce = secrets.token_bytes(32)
    token = allocation_token.mint(master.ctx.cluster.secret, "1.x.1")
    answer = master.anonymous.get(question("1.x.1", nonce)).json
    assert answer["proof"] == allocation_proof(token, nonce)
    assert answer["proof"] != master.anonymous.get(question("1.x.2", nonce)).json["proof"]
    refused = master.anonymous.get("/info?allocation=1.x.1&challenge=zz")
    assert refused.status == 400 and "not hexadecimal" in refused.message
