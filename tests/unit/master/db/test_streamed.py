"""Declarations of the nouns of `/stream`: the types of messages are those of the columns they come from."""

from typing import get_args, get_type_hints

import pytest
from sqlalchemy import Column

from determined.master.db.queries.streamed import BY_NOUN, Read
from determined.master.services.stream_spec import TRAITS, Noun


def test_every_stored_noun_but_metrics_declares_its_rows() -> None:
    assert set(BY_NOUN) == {noun for noun, traits in TRAITS.items() if traits.stored} - {Noun.METRICS}


@pytest.mark.parametrize("noun", BY_NOUN)
def test_a_field_has_the_type_of_its_column(noun: str) -> None:
    hints = get_type_hints(BY_NOUN[noun].message, include_extras=True)
    first, *_, last = hints
    assert (first, last) == ("id", "seq")
    del hints["seq"]
    for name, hint in hints.items():
        kind, source = get_args(hint)
        if not isinstance(source, Column):
            assert isinstance(source, Read) or source.type is not None
            continue
        kinds = set(get_args(kind)) or {kind}
        assert source.nullable == (type(None) in kinds), name
        assert source.type._type_affinity.__name__ == "JSON" or source.type.python_type in kinds, name
