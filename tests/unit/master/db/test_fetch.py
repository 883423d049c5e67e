"""Rows become structs; a struct that does not fit the statement is refused before any row is read wrongly."""

from collections.abc import Iterator

import msgspec
import pytest
from sqlalchemy import Connection, bindparam, create_engine, insert, select

from determined.master.db import fetch
from determined.master.db.rows.cluster import NodeOverride
from determined.master.db.schema import metadata, node_overrides

_ALL = select(node_overrides).order_by(node_overrides.c.slot_id)


class _Slot(msgspec.Struct, frozen=True):
    slot_id: int
    enabled: bool


class _Swapped(msgspec.Struct, frozen=True):
    enabled: bool
    slot_id: int


@pytest.fixture
def conn() -> Iterator[Connection]:
    engine = create_engine("sqlite://")
    with engine.connect() as conn:
        metadata.create_all(conn, [node_overrides])
        rows = [{"node_id": "a", "slot_id": n, "enabled": n == 1, "draining": False} for n in range(2)]
        conn.execute(insert(node_overrides), rows)
        yield conn
    engine.dispose()


def test_a_whole_row_is_read_into_the_struct_of_its_table(conn: Connection) -> None:
    assert fetch.rows(conn, _ALL, NodeOverride) == [
        NodeOverride("a", 0, enabled=False, draining=False),
        NodeOverride("a", 1, enabled=True, draining=False),
    ]


def test_some_columns_are_read_into_a_struct_beside_the_query(conn: Connection) -> None:
    statement = select(node_overrides.c.slot_id, node_overrides.c.enabled)
    chosen = statement.where(node_overrides.c.slot_id == bindparam("slot"))
    assert fetch.row(conn, chosen, _Slot, {"slot": 1}) == _Slot(1, enabled=True)


def test_a_row_that_is_missing_is_none(conn: Connection) -> None:
    assert fetch.row(conn, _ALL.where(node_overrides.c.node_id == "b"), NodeOverride) is None


def test_fields_in_another_order_than_the_columns_are_refused(conn: Connection) -> None:
    statement = select(node_overrides.c.slot_id, node_overrides.c.enabled)
    with pytest.raises(TypeError, match="the statement selects"):
        fetch.rows(conn, statement, _Swapped)  # type: ignore[arg-type]
