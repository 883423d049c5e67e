"""Changed rows as messages of `/stream`, by the declarations of `streamed.py`."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from sqlalchemy import Connection, Select, select

from determined.master.db.queries.batching import batches
from determined.master.db.queries.streamed import Read, Streamed

M = TypeVar("M", bound=msgspec.Struct)
Convert = Callable[[Any], object]


def read(conn: Connection, noun: Streamed[M], seqs: Mapping[str, int]) -> dict[int, M]:
    """Read the things with these keys, by the numbers of their changes (`seqs`). Deleted things are left out."""
    query, converts = _statement(noun)
    keys = [noun.key.type.python_type(key) for key in seqs]
    messages: dict[int, M] = {}
    for some in batches(keys):
        for row in conn.execute(query.where(noun.key.in_(some))):
            values = (
                value if convert is None else convert(value) for value, convert in zip(row, converts, strict=True)
            )
            seq = seqs[str(row[0])]
            messages[seq] = noun.message(*values, seq)
    return messages


@cache
def _statement(noun: Streamed[Any]) -> tuple[Select[*tuple[Any, ...]], list[Convert | None]]:
    reads = list(_reads(noun.message))
    if reads[0][1].column is not noun.key:
        raise TypeError(f"{noun.message.__name__} must declare its key first: `id: Annotated[..., {noun.key}]`")
    columns = [one.column.label(name) for name, one in reads]
    return select(*columns).select_from(noun.source), [one.convert for _, one in reads]


def _reads(message: type[msgspec.Struct]) -> Iterator[tuple[str, Read]]:
    for name, hint in get_type_hints(message, include_extras=True).items():
        if get_origin(hint) is Annotated:
            source = get_args(hint)[1]
            yield name, source if isinstance(source, Read) else Read(source)
