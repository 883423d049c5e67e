"""Ids of events for webhooks: random UUIDs of version 4, as uuid.uuid4 makes them one by one."""

import uuid

from determined.master.lifecycle.webhooks import _event_ids


def test_ids_of_events_are_random_uuids_in_their_usual_form() -> None:
    texts = list(_event_ids(1000))
    assert len(set(texts)) == 1000
    for text in texts:
        parsed = uuid.UUID(text)
        assert (str(parsed), parsed.version, parsed.variant) == (text, 4, uuid.RFC_4122)
    assert {text[19] for text in texts} == set("89ab"), "both random bits of the variant's digit are used"
    assert list(_event_ids(0)) == []
