"""A real master proves to a runner that it minted the runner's token."""

import secrets
from pathlib import Path
from typing import Any

import pytest

from determined._bound_address import of_url
from determined.errors import Unavailable
from determined.exec.master_link import STALE, MasterLink
from determined.master.auth import allocation_token
from determined.wire.codec import to_json
from determined.wire.master_proof import allocation_proof, question
from determined.wire.report import LaunchFile
from small_relay import relaying


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


def test_proof_is_of_the_challenge_the_allocation_and_our_own_address(start_master: Any, sqlite_url: str) -> None:
    master = start_master(sqlite_url)
    nonce = secrets.token_bytes(32)
    token = allocation_token.mint(master.ctx.cluster.secret, "1.x.1")
    proofs = master.anonymous.get(question(nonce, "1.x.1")).json["proofs"]
    assert proofs == [allocation_proof(token, nonce, of_url(master.url))]
    assert proofs != master.anonymous.get(question(nonce, "1.x.2")).json["proofs"]
    refused = master.anonymous.get("/info?allocation=1.x.1&challenge=zz")
    assert refused.status == 400 and "not hexadecimal" in refused.message


def test_relay_at_another_port_gets_no_token(start_master: Any, sqlite_url: str, tmp_path: Path) -> None:
    master = start_master(sqlite_url)
    token = allocation_token.mint(master.ctx.cluster.secret, "1.x.1")
    with relaying(master.url) as relay:
        with pytest.raises(Unavailable, match="not the master of this task"):
            link(relay.url, token, tmp_path).spec()
        assert relay.saw(b"/info?allocation=") and not relay.saw(token.encode())


def test_master_behind_a_reverse_proxy_proves_the_address_it_advertises(
    start_master: Any, sqlite_url: str, tmp_path: Path
) -> None:
    with relaying(None) as proxy:
        master = start_master(sqlite_url, advertised_url=proxy.url)
        proxy.target = master.url
        token = allocation_token.mint(master.ctx.cluster.secret, "1.x.1")
        for url in (proxy.url, master.url):
            with pytest.raises(STALE):
                link(url, token, tmp_path).spec()
