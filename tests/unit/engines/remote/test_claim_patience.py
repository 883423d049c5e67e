"""A sitter that cannot reach its master at all."""

import socket
from collections.abc import Iterator

import pytest

from determined.engines.remote import claim
from determined.engines.remote.claim import Master
from determined.errors import Unavailable
from determined.wire.claim import ClaimRequest, Order


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address where nobody listens, and nobody can meanwhile."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{probe.getsockname()[1]}"


def test_claim_that_nobody_answers_is_given_up_in_the_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, nobody: str
) -> None:
    monkeypatch.setattr(claim, "_PATIENCE_SECONDS", 0.5)
    with pytest.raises(Unavailable, match="no answer from the master"):
        Master(_order(nobody)).claim(_request(), lambda: False)
    assert caplog.text.count("trying again") == 1


def test_claim_that_nobody_wants_any_more_ends_at_once(nobody: str) -> None:
    assert Master(_order(nobody)).claim(_request(), lambda: True) is None


def _order(url: str) -> Order:
    return Order(master_url=url, allocation_id="1.t.1", ticket="ticket")


def _request() -> ClaimRequest:
    return ClaimRequest(allocation_id="1.t.1", rank=0, claimant="me", proof="proof")
