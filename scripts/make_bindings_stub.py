"""Writes src/determined/common/api/bindings.pyi: what the lazily made bindings have, for editors and type checkers."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

from determined.common.api._catalog import Call, Field, calls, is_enum, is_message, messages, name_of
from determined.common.api._messages import class_of
from determined.wire.operation import Nothing, StreamOperation

TARGET = Path(__file__).parents[1] / "src" / "determined" / "common" / "api" / "bindings.pyi"

_OPENING = '''\
"""Written by scripts/make_bindings_stub.py from the wire types; do not edit. A test keeps it true."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from determined.api.session import Session
from determined.common.api._functions import APIHttpError as APIHttpError
from determined.common.api._functions import APIHttpStreamError as APIHttpStreamError
from determined.common.api._messages import DetEnum as DetEnum
from determined.common.api._messages import Message
from determined.common.api._messages import Printable as Printable
from determined.common.api._messages import Unset as Unset
from determined.common.api._messages import dump_float as dump_float

Json = Any
'''


def main() -> int:
    TARGET.write_text(stub())
    return 0


def stub() -> str:
    """Compose the whole file."""
    parts = [_OPENING]
    parts += ["\n".join(_class(name, kind)) for name, kind in sorted(messages().items())]
    parts += [_function(call) for _, call in sorted(calls().items())]
    pages = sorted({name_of(c.response) for c in calls().values() if hasattr(c.response, "pagination")})
    parts.append("Paginated: TypeAlias = (\n    " + "\n    | ".join(pages) + "\n)")
    return "\n\n".join(parts) + "\n"


def _class(name: str, kind: Any) -> Iterator[str]:
    if is_enum(kind):
        yield f"class {name}(DetEnum):"
        yield from (f'    {member.name} = "{member.value}"' for member in class_of(kind))  # type: ignore[attr-defined]
        return
    fields: tuple[Field, ...] = class_of(kind)._fields  # type: ignore[attr-defined]
    yield f"class {name}(Message):"
    yield from (f"    {field.name}: {_text(field.type)}{'' if field.required else ' | None'}" for field in fields)
    yield "    def __init__("
    yield "        self,"
    yield "        *,"
    for field in fields:
        default = "" if field.required else " | Unset | None = ..."
        yield f"        {field.name}: {_text(field.type, given=True)}{default},"
    yield "    ) -> None: ..."


def _function(call: Call) -> str:
    required = [(name, _id_type(call, name)) for name in call.ids]
    required += [("body", _text(call.body, given=True))] if call.body is not None else []
    required += [(field.argument, _text(field.type, given=True)) for field in call.query if field.required]
    optional = [(f.argument, f"{_text(f.type, given=True)} | None = None") for f in call.query if not f.required]
    arguments = [f"    {name}: {text}," for name, text in sorted(required) + sorted(optional)]
    answer = "None" if call.response is Nothing else _text(call.response)
    answer = f"Iterator[{answer}]" if isinstance(call.operation, StreamOperation) else answer
    lines = [f"def {call.name}(", "    session: Session,", *(["    *,", *arguments] if arguments else [])]
    return "\n".join([*lines, f") -> {answer}: ..."])


def _id_type(call: Call, name: str) -> str:
    place = call.operation.ids[call.ids.index(name)]
    return "int" if f"{{{place}:int}}" in call.operation.path else "str"


def _text(kind: Any, *, given: bool = False) -> str:
    """Return a type as the file writes it; `given`: as an argument, which may be any sequence."""
    origin = get_origin(kind)
    if origin is list:
        return f"{'Sequence' if given else 'list'}[{_text(get_args(kind)[0], given=given)}]"
    if origin is dict:
        return f"{'Mapping' if given else 'dict'}[str, {_text(get_args(kind)[1], given=given)}]"
    if is_enum(kind) or is_message(kind):
        return name_of(kind)
    return kind.__name__ if kind in (str, int, float, bool) else "Any"


if __name__ == "__main__":
    sys.exit(main())
