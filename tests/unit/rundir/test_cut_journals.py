"""Journals that a kill or a power failure cut anywhere: no half record, no whole record lost, and writing goes on."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from determined.errors import FailedPrecondition
from determined.rundir.journal import JournalReader, JournalWriter, journal_names
from determined.rundir.journal_head import HEAD_BYTES, committed_of, pending_of
from determined.rundir.segment import CLOSED, PREFIX, record_size, segment_path, segment_starts

RECORDS = [b"one", b"", b"three " * 7, b"\0" * 24, b"\xff" * 9, b"six"]
SMALL = 4096


def drain(directory: Path) -> list[bytes]:
    """Read everything that is left, as a runner that starts now."""
    reader = JournalReader(directory, "a")
    found: list[bytes] = []
    while (batch := reader.read(3))[1]:
        found += batch[1]
        reader.acknowledge(batch[0] + len(batch[1]) - 1)
    reader.close()
    return found


def ends(records: list[bytes]) -> list[int]:
    """Return where each record ends in its segment."""
    total, found = 0, []
    for record in records:
        found.append(total + PREFIX.size + len(record))
        total += record_size(len(record))
    return found


def written(directory: Path, records: list[bytes] = RECORDS) -> Path:
    writer = JournalWriter(directory, "a", segment_bytes=SMALL)
    writer.extend(records)
    writer.close()
    return segment_path(directory, "a", 1)


def test_a_segment_cut_at_any_byte_gives_the_whole_records_before_it(tmp_path: Path) -> None:
    path = written(tmp_path)
    whole, head = path.read_bytes(), (tmp_path / "a.head").read_bytes()
    last = ends(RECORDS)
    for cut in range(last[-1] + 1):
        path.write_bytes(whole[:cut].ljust(len(whole), b"\0"))  # pages that a power failure kept from the disk
        (tmp_path / "a.head").write_bytes(head)
        # Zeros at the end of a record are as good as written ones.
        survived = [end for end in last if end <= cut or not any(whole[cut:end])]
        assert drain(tmp_path) == RECORDS[: len(survived)], f"cut at byte {cut}"


def test_a_writer_goes_on_after_the_last_whole_record_wherever_its_journal_was_cut(tmp_path: Path) -> None:
    path = written(tmp_path)
    whole, head = path.read_bytes(), (tmp_path / "a.head").read_bytes()
    for kept, end in enumerate(ends(RECORDS)[:-1], 1):
        path.write_bytes(whole[: end + 3].ljust(len(whole), b"\0"))
        (tmp_path / "a.head").write_bytes(head)
        again = JournalWriter(tmp_path, "a", segment_bytes=SMALL)
        assert (again.committed, again.last_record) == (kept, RECORDS[kept - 1])
        assert again.append(b"after the cut") == kept + 1
        again.close()
        assert drain(tmp_path) == [*RECORDS[:kept], b"after the cut"]


def test_bytes_that_a_killed_append_left_are_not_read_however_many_they_are(tmp_path: Path) -> None:
    path = written(tmp_path, RECORDS[:2])
    before = path.read_bytes()
    torn = PREFIX.pack(len(b"torn record") + 1, 0) + b"torn record"
    start = sum(record_size(len(record)) for record in RECORDS[:2])
    for count in range(len(torn) + 1):
        path.write_bytes(before[:start] + torn[:count] + before[start + count :])
        assert JournalReader(tmp_path, "a").read() == (1, RECORDS[:2])


def test_a_writer_killed_between_two_segments_loses_nothing_that_is_written_later(tmp_path: Path) -> None:
    first = JournalWriter(tmp_path, "a", segment_bytes=SMALL)
    first.extend(b"%d" % number * 300 for number in range(10, 15))
    while len(segment_starts(tmp_path, "a")) < 2:
        first.append(b"x" * 600)
    first.close()
    old = segment_starts(tmp_path, "a")[0]
    # As if it had been killed after the new segment was there and before the old one said so.
    path = segment_path(tmp_path, "a", old)
    content = bytearray(path.read_bytes())
    mark = content.rindex(PREFIX.pack(CLOSED, 0))
    content[mark : mark + PREFIX.size] = bytes(PREFIX.size)
    path.write_bytes(content)
    again = JournalWriter(tmp_path, "a", segment_bytes=SMALL)
    last = again.append(b"exit")
    again.close()
    found = drain(tmp_path)
    assert (len(found), found[-1]) == (last, b"exit")


def test_a_reader_that_waits_at_the_end_of_an_unmarked_segment_finds_the_next(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, "a", segment_bytes=SMALL)
    writer.append(b"first")
    reader = JournalReader(tmp_path, "a")
    assert reader.read() == (1, [b"first"])
    reader.acknowledge(1)
    assert reader.read() == (2, [])
    writer._rotate(0)
    path = segment_path(tmp_path, "a", 1)
    content = path.read_bytes()
    path.write_bytes(content.replace(PREFIX.pack(CLOSED, 0), bytes(PREFIX.size)))
    writer.append(b"second")
    assert reader.read() == (2, [b"second"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=900), min_size=1, max_size=12), st.data())
def test_any_records_cut_anywhere_are_a_beginning_of_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, records: list[bytes], data: st.DataObject
) -> None:
    place = tmp_path_factory.mktemp("journal")
    written(place, records)
    path = segment_path(place, "a", segment_starts(place, "a")[-1])
    content = path.read_bytes()
    cut = data.draw(st.integers(0, len(content)))
    path.write_bytes(content[:cut].ljust(len(content), b"\0"))
    found = drain(place)
    assert found == records[: len(found)]


def test_records_that_the_counter_has_not_passed_are_not_read_and_are_written_over(tmp_path: Path) -> None:
    written(tmp_path)
    head = bytearray((tmp_path / "a.head").read_bytes())
    head[8:16] = (2).to_bytes(8, "little")
    (tmp_path / "a.head").write_bytes(head)
    assert JournalReader(tmp_path, "a").read() == (1, RECORDS[:2])
    again = JournalWriter(tmp_path, "a", segment_bytes=SMALL)
    assert again.append(b"next") == 3
    assert drain(tmp_path) == [*RECORDS[:2], b"next"]


@pytest.mark.parametrize("content", [b"", b"x", bytes(HEAD_BYTES - 1), bytes(HEAD_BYTES), b"\1" * HEAD_BYTES])
def test_a_file_that_is_no_head_counts_nothing(content: bytes) -> None:
    assert (pending_of(content), committed_of(content)) == (0, 0)


def test_a_head_tells_what_is_written_and_what_is_waiting(tmp_path: Path) -> None:
    written(tmp_path)
    reader = JournalReader(tmp_path, "a")
    reader.read()
    reader.acknowledge(4)
    head = (tmp_path / "a.head").read_bytes()
    assert (pending_of(head), committed_of(head)) == (2, 6)
    assert reader.pending == 2


def test_a_head_that_is_still_being_written_is_no_journal_yet(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / ".b.head.123.new").write_bytes(b"half")
    (tmp_path / "c.head.new").write_bytes(b"")
    assert journal_names(tmp_path) == ["a"]


def test_a_segment_that_was_never_finished_is_no_segment(tmp_path: Path) -> None:
    written(tmp_path)
    segment_path(tmp_path, "a", 7).with_suffix(".seg.new").write_bytes(b"half")
    (tmp_path / "a.notanumber.seg").write_bytes(b"")
    assert segment_starts(tmp_path, "a") == [1]
    assert drain(tmp_path) == RECORDS


def test_a_closed_journal_refuses_more_and_closing_again_changes_nothing(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, "a")
    writer.append(b"kept")
    writer.close()
    writer.close()
    with pytest.raises(FailedPrecondition, match="journal a is closed"):
        writer.append(b"late")
    with pytest.raises(FailedPrecondition, match="report from the process that opened it"):
        writer.extend([b"late"])
    assert drain(tmp_path) == [b"kept"]


def test_acknowledging_what_is_not_written_counts_as_all_of_it_and_going_back_as_nothing(tmp_path: Path) -> None:
    written(tmp_path)
    reader = JournalReader(tmp_path, "a")
    reader.acknowledge(1000)
    assert (reader.acknowledged, reader.pending) == (6, 0)
    reader.acknowledge(3)
    assert reader.acknowledged == 6
    assert reader.read() == (7, [])


def test_acknowledging_across_segments_without_reading_them_finds_the_next_record(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, "a", segment_bytes=SMALL)
    writer.extend(b"%02d" % number * 300 for number in range(40))
    reader = JournalReader(tmp_path, "a")
    reader.acknowledge(33)
    assert reader.read(2) == (34, [b"33" * 300, b"34" * 300])
    assert reader.first_kept > 20, "segments that are acknowledged go"


def test_nothing_can_be_handed_out_again_where_nothing_is_left(tmp_path: Path) -> None:
    path = written(tmp_path)
    reader = JournalReader(tmp_path, "a")
    reader.acknowledge(6)
    path.unlink()
    assert reader.first_kept == 7
    assert not reader.rewind(3)
    assert reader.acknowledged == 6


def test_an_ordinary_record_does_not_take_the_room_that_is_kept_for_the_last(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, "a", segment_bytes=SMALL, reserve=1024)
    writer.append(b"x" * 3000)
    writer.append(b"y" * 100)
    assert segment_starts(tmp_path, "a") == [1, 2], "it would have fitted into the rest of the first"
    writer.append(b"z" * (SMALL - 200), last=True)
    assert drain(tmp_path) == [b"x" * 3000, b"y" * 100, b"z" * (SMALL - 200)]
