"""Records of W&B's log: the few fields that an import needs, decoded from the protobuf wire format."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from determined._json import JsonObject
from determined.master.importing.clean import MAX_DEPTH, parse_json
from determined.tensorboard import protobuf

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Fields of a record. Output is a whole line in old versions, and a piece of text in newer ones.
KNOWN = HISTORY, SUMMARY, OUTPUT_LINE, CONFIG, STATS, OUTPUT, RUN, EXIT = (2, 3, 4, 5, 7, 13, 17, 18)


class DamagedRecord(ValueError):
    """Message that is no protobuf of the form that W&B writes."""


@dataclass(slots=True)
class Message:
    """Fields of one message by their numbers, in the order of the wire."""

    fields: dict[int, list[int | bytes]] = field(default_factory=dict)

    def text(self, number: int) -> str:
        return self._bytes(number).decode(errors="replace")

    def texts(self, number: int) -> list[str]:
        return [value.decode(errors="replace") for value in self.fields.get(number, []) if isinstance(value, bytes)]

    def number(self, number: int) -> int:
        """Return a signed integer; 0 where it is missing, as protobuf has it."""
        value = self.fields.get(number, [0])[-1]
        if isinstance(value, bytes):
            raise DamagedRecord(f"field {number} is no number")
        return value - (1 << 64) if value >= 1 << 63 else value

    def message(self, number: int) -> "Message":
        return decode(self._bytes(number))

    def messages(self, number: int) -> list["Message"]:
        return [decode(value) for value in self.fields.get(number, []) if isinstance(value, bytes)]

    def has(self, number: int) -> bool:
        return number in self.fields

    def time(self, number: int) -> datetime | None:
        if not self.has(number):
            return None
        moment = self.message(number)
        return moment_of(moment.number(1) + moment.number(2) / 1e9)

    def _bytes(self, number: int) -> bytes:
        value = self.fields.get(number, [b""])[-1]
        if isinstance(value, int):
            raise DamagedRecord(f"field {number} is no text")
        return value


def decode(data: bytes) -> Message:
    """Decode one message; those inside it stay bytes until they are asked for. Raises DamagedRecord."""
    message = Message()
    try:
        for number, value in protobuf.fields(data):
            message.fields.setdefault(number, []).append(value)
    except ValueError as e:
        raise DamagedRecord(str(e)) from e
    return message


def pairs(message: Message, number: int) -> Iterator[tuple[list[str], Any]]:
    """Yield the items of a history, config, summary or statistics message as (path, value). Raises DamagedRecord."""
    for item in message.messages(number):
        path = path_of(item)
        if len(path) > MAX_DEPTH:
            raise DamagedRecord(f"a name has {len(path)} parts; at most {MAX_DEPTH} are read")
        try:
            yield path, parse_json(item.text(16))
        except ValueError as e:
            raise DamagedRecord(f"{'.'.join(path)[:100]} is no JSON: {str(e)[:100]}") from e


def path_of(item: Message) -> list[str]:
    return item.texts(2) or [item.text(1)]


def items(message: Message, number: int) -> JsonObject:
    """Return the items of a message as one nested object."""
    nested: JsonObject = {}
    for path, value in pairs(message, number):
        put(nested, path, value)
    return nested


def put(target: JsonObject, path: list[str], value: Any) -> None:
    """Set a value below nested objects; one that is in the way is replaced."""
    for key in path[:-1]:
        inner = target.get(key)
        if not isinstance(inner, dict):
            inner = target[key] = {}
        target = inner
    target[path[-1]] = value


def moment_of(seconds: Any) -> datetime | None:
    """Return the moment of a Unix time; None for what is none."""
    try:
        return _EPOCH + timedelta(seconds=float(seconds))
    except (TypeError, ValueError, OverflowError):
        return None
