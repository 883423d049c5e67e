"""The protobuf wire format is read without generated classes; bytes that are none are a ValueError."""

import pytest

from determined.tensorboard.protobuf import fields, varint


def test_every_wire_type_is_a_field_with_its_number() -> None:
    message = b"\x08\x96\x01" + b"\x11" + b"\x01" * 8 + b"\x1a\x02hi" + b"\x25" + b"\x02" * 4
    assert list(fields(message)) == [(1, 150), (2, b"\x01" * 8), (3, b"hi"), (4, b"\x02" * 4)]
    assert list(fields(b"")) == []


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (b"\x08", "cut off"),
        (b"\x08\x80", "cut off"),
        (b"\x80" * 20, "too long"),
        (b"\x08" + b"\xff" * 10 + b"\x01", "too long"),
        (b"\x0b", "wire type 3"),
        (b"\x0a\x05abc", "longer than its message"),
        (b"\x11\x00", "longer than its message"),
    ],
)
def test_bytes_that_are_no_message_are_refused(message: bytes, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        list(fields(message))


def test_the_largest_number_of_64_bits_is_read() -> None:
    assert varint(b"\xff" * 9 + b"\x01rest", 0) == (2**64 - 1, 10)
