"""Messages between a bridge and its engine are believed only with the right seal."""

import pytest

from determined.errors import Unauthenticated
from determined.wire.bridge import Message, View, Wishes, seal, unseal


def test_message_comes_back_as_it_was_sealed() -> None:
    message = Message(number=3, view=View(nodes=[], runners=[]))
    assert unseal("key", seal("key", "job", message, "here:1"), Message, "here:1") == message


@pytest.mark.parametrize("change", [{"text": '{"number":4}'}, {"job": "other"}, {"seal": "0" * 64}])
def test_changed_message_is_refused(change: dict[str, str]) -> None:
    sealed = seal("key", "job", Message(number=3), "here:1")
    for name, value in change.items():
        setattr(sealed, name, value)
    with pytest.raises(Unauthenticated, match="seal"):
        unseal("key", sealed, Message, "here:1")


def test_message_of_another_key_is_refused() -> None:
    with pytest.raises(Unauthenticated):
        unseal("other", seal("key", "job", Message(number=3), "here:1"), Message, "here:1")


def test_message_cannot_be_sent_back_as_an_answer() -> None:
    with pytest.raises(Unauthenticated):
        unseal("key", seal("key", "job", Message(number=3), "here:1"), Wishes, "here:1")


def test_message_that_was_sent_to_another_address_is_refused() -> None:
    """Somebody who took the master's old address passes it on to get the answer, which has tickets of runners."""
    with pytest.raises(Unauthenticated):
        unseal("key", seal("key", "job", Message(number=3), "taken:1"), Message, "here:1")
