"""Sizes, durations, lengths."""

import pytest

from determined.config import Length, Unit, parse_duration, parse_size, to_batches
from determined.errors import InvalidArgument


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4g", 4 * 1024**3),
        ("4G", 4 * 1024**3),
        ("4gb", 4 * 1024**3),
        ("4GiB", 4 * 1024**3),
        ("4 g", 4 * 1024**3),
        ("512", 512),
        ("512b", 512),
        ("1.5k", 1536),
        ("2m", 2 * 1024**2),
        ("1t", 1024**4),
        ("1p", 1024**5),
        (1234, 1234),
    ],
)
def test_sizes_are_binary_multiples(text: str | int, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["1.gb", "1 gi", "giga", "4  g", "-1", "", "g", "1e3", "4x", " 4g", "4g ", "9" * 5000])
def test_malformed_sizes_are_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="is not a size"):
        parse_size(text)


@pytest.mark.parametrize("value", [-1, True, 1.5])
def test_sizes_are_not_any_number(value: int) -> None:
    with pytest.raises(InvalidArgument):
        parse_size(value)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1h30m", 5400),
        ("90s", 90),
        ("300ms", 0.3),
        ("-1.5h", -5400),
        ("+5s", 5),
        ("0", 0),
        ("1us", 1e-6),
        ("1µs", 1e-6),
        (".5s", 0.5),
        ("2m3.5s", 123.5),
    ],
)
def test_durations_are_gos(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "5", "1h30", "h", "1d", "1 h", "--5s", "s5", "-", "1h junk"])
def test_malformed_durations_are_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="is not a duration"):
        parse_duration(text)


@pytest.mark.parametrize("value", [5, None, True])
def test_bare_numbers_are_no_durations(value: str) -> None:
    with pytest.raises(InvalidArgument):
        parse_duration(value)


def test_lengths_have_a_unit_or_none() -> None:
    assert Length.parse(50) == Length(None, 50)
    assert Length.parse({"epochs": 3}) == Length(Unit.EPOCHS, 3)


@pytest.mark.parametrize("raw", [{}, {"batches": 1, "epochs": 2}, {"steps": 1}, {"batches": "x"}, "5", -1, True, None])
def test_malformed_lengths_are_refused(raw: object) -> None:
    with pytest.raises(InvalidArgument, match="is not a length"):
        Length.parse(raw)


@pytest.mark.parametrize(
    ("length", "batches"),
    [
        (Length(Unit.BATCHES, 7), 7),
        (Length(Unit.RECORDS, 1000), 31),
        (Length(Unit.RECORDS, 5), 1),
        (Length(Unit.EPOCHS, 2), 62),
        (Length(None, 2), 62),
    ],
)
def test_lengths_count_in_whole_batches(length: Length, batches: int) -> None:
    assert to_batches(length, records_per_epoch=1000, global_batch_size=32) == batches


def test_epochs_need_records_per_epoch() -> None:
    with pytest.raises(InvalidArgument, match="set records_per_epoch"):
        to_batches(Length(Unit.EPOCHS, 2), global_batch_size=32)
