"""Journals: what was appended is read once acknowledged, in order, whatever dies."""

import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from determined.errors import FailedPrecondition
from determined.rundir import journal as journal_module
from determined.rundir.journal import JournalReader, JournalWriter, journal_names
from determined.rundir.segment import segment_path, segment_starts

SMALL = 4096


def drain(reader: JournalReader, batch: int = 7) -> list[bytes]:
    found: list[bytes] = []
    while True:
        first, records = reader.read(batch)
        if not records:
            return found
        assert first == reader.acknowledged + 1
        found.extend(records)
        reader.acknowledge(first + len(records) - 1)


def test_records_are_numbered_from_one_and_read_in_order(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, "a")
    assert [writer.append(b"x"), writer.append(b""), writer.append(b"z")] == [1, 2, 3]
    assert writer.committed == 3
    assert JournalReader(tmp_path, "a").read() == (1, [b"x", b"", b"z"])


def test_unacknowledged_records_are_handed_out_again(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, "a")
    writer.extend([b"1", b"2", b"3"])
    reader = JournalReader(tmp_path, "a")
    assert reader.read(2) == (1, [b"1", b"2"])
    assert reader.read() == (1, [b"1", b"2", b"3"])
    reader.acknowledge(2)
    assert reader.read() == (3, [b"3"])
    assert writer.acknowledged == 2
    assert JournalReader(tmp_path, "a").read() == (3, [b"3"])


def test_read_stops_at_the_byte_limit_but_gives_at_least_one(tmp_path: Path) -> None:
    JournalWriter(tmp_path, "a").extend([b"x" * 100, b"y" * 100, b"z" * 100])
    reader = JournalReader(tmp_path, "a")
    assert len(reader.read(10, 200)[1]) == 2
    assert len(reader.read(10, 1)[1]) == 1


def test_segments_are_deleted_once_acknowledged(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, "a", segment_bytes=SMALL)
    writer.extend(b"%04d" % n * 100 for n in range(50))
    assert len(segment_starts(tmp_path, "a")) > 4
    reader = JournalReader(tmp_path, "a")
    assert drain(reader) == [b"%04d" % n * 100 for n in range(50)]
    assert len(segment_starts(tmp_path, "a")) == 1
    writer.append(b"more")
    assert reader.read() == (51, [b"more"])


def test_oversize_record_gets_a_segment_of_its_own(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, "a", segment_bytes=SMALL)
    big = b"b" * (SMALL * 3)
    writer.extend([big, b"small", big])
    assert drain(JournalReader(tmp_path, "a")) == [big, b"small", big]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.one_of(st.binary(max_size=3000), st.just("reopen writer"), st.just("reopen reader"), st.integers(1, 9)))
)
def test_any_mix_of_appends_reads_and_restarts_gives_every_record_once(
    tmp_path_factory: pytest.TempPathFactory, actions: list[bytes | str | int]
) -> None:
    place = tmp_path_factory.mktemp("journal")
    writer = JournalWriter(place, "a", segment_bytes=SMALL)
    reader = JournalReader(place, "a")
    written: list[bytes] = []
    read: list[bytes] = []
    for action in actions:
        if isinstance(action, bytes):
            assert writer.append(action) == len(written) + 1
            written.append(action)
        elif action == "reopen writer":
            writer.close()
            writer = JournalWriter(place, "a", segment_bytes=SMALL)
        elif action == "reopen reader":
            reader.close()
            reader = JournalReader(place, "a")
        elif isinstance(action, int):
            first, records = reader.read(action)
            taken = records[: (action + 1) // 2]
            reader.acknowledge(first + len(taken) - 1)
            read.extend(taken)
    assert read + drain(reader) == written
    writer.close()
    reader.close()


def test_torn_record_is_invisible_and_overwritten_by_the_next_writer(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, "a")
    writer.append(b"whole")
    # As if the process had been killed after copying bytes and before counting them.
    writer._put(b"torn" * 100, 0)
    reader = JournalReader(tmp_path, "a")
    assert reader.read() == (1, [b"whole"])
    again = JournalWriter(tmp_path, "a")
    assert again.last_record == b"whole"
    assert again.append(b"next") == 2
    assert reader.read() == (1, [b"whole", b"next"])


def test_damaged_record_ends_what_is_readable(tmp_path: Path) -> None:
    JournalWriter(tmp_path, "a").extend([b"good", b"damaged", b"after"])
    path = segment_path(tmp_path, "a", 1)
    path.write_bytes(path.read_bytes().replace(b"damaged", b"damagXd"))
    assert JournalReader(tmp_path, "a").read() == (1, [b"good"])
    writer = JournalWriter(tmp_path, "a")
    assert writer.append(b"new") == 2


def test_appended_records_survive_kill_9_of_the_writer(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from determined.rundir.journal import JournalWriter\n"
        "w = JournalWriter(Path(sys.argv[1]), 'a', segment_bytes=65536)\n"
        "n = 0\n"
        "while True:\n"
        "    n += 1; w.append(b'%d' % n)\n"
        "    if n == 5000: print('go', flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.send_signal(signal.SIGKILL)
    found = drain(JournalReader(tmp_path, "a"), 1000)
    assert len(found) >= 5000
    assert found == [b"%d" % n for n in range(1, len(found) + 1)]


def test_an_append_waits_until_another_thread_has_finished(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, "a")
    inside, leave = threading.Event(), threading.Event()

    def slow_payloads() -> Iterator[bytes]:
        yield b"first"
        inside.set()
        assert leave.wait(60)
        yield b"second"

    extending = threading.Thread(target=lambda: writer.extend(slow_payloads()))
    extending.start()
    assert inside.wait(60)
    appending = threading.Thread(target=lambda: writer.append(b"third"))
    appending.start()
    appending.join(0.05)
    assert appending.is_alive()
    leave.set()
    extending.join()
    appending.join()
    assert JournalReader(tmp_path, "a").read() == (1, [b"first", b"second", b"third"])


def test_threads_may_append_together(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, "a", segment_bytes=SMALL)
    threads = [
        threading.Thread(target=lambda k=k: [writer.append(b"%d-%d" % (k, n)) for n in range(300)]) for k in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = drain(JournalReader(tmp_path, "a"))
    assert len(found) == 1200
    for k in range(4):
        assert [r for r in found if r.startswith(b"%d-" % k)] == [b"%d-%d" % (k, n) for n in range(300)]


def test_waiting_ends_with_the_acknowledgement_the_timeout_or_stop(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, "a")
    number = writer.append(b"x")
    assert not writer.wait_acknowledged(number, timeout=0.01)
    assert not writer.wait_acknowledged(number, stop=lambda: True)
    reader = JournalReader(tmp_path, "a")
    thread = threading.Thread(target=lambda: (reader.read(), reader.acknowledge(number)))
    thread.start()
    assert writer.wait_acknowledged(number, timeout=60)
    thread.join()


def test_forked_child_cannot_write_into_its_parents_journal(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, "a")
    writer.append(b"parent")
    pid = os.fork()
    if pid == 0:
        try:
            writer.append(b"child")
        except FailedPrecondition:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    assert JournalReader(tmp_path, "a").read() == (1, [b"parent"])


def test_full_disk_is_an_error_that_spares_the_last_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = JournalWriter(tmp_path, "a", segment_bytes=SMALL, reserve=512)

    def full(path: Path, size: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(journal_module, "create_segment", full)
    with pytest.raises(OSError, match="No space left"):
        writer.extend(b"x" * 100 for _ in range(100))
    kept = writer.committed
    assert 20 < kept < 40
    assert writer.append(b"the exit" * 20, last=True) == kept + 1
    assert len(drain(JournalReader(tmp_path, "a"))) == kept + 1


def test_rewinding_hands_out_records_that_are_still_there(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, "a", segment_bytes=SMALL)
    writer.extend(b"%d" % n * 200 for n in range(10, 50))
    reader = JournalReader(tmp_path, "a")
    drain(reader)
    start = segment_starts(tmp_path, "a")[0]
    assert not reader.rewind(start - 2)
    assert reader.rewind(start - 1)
    assert reader.read()[0] == start


def test_writer_can_skip_what_a_power_failure_took(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, "a")
    reader = JournalReader(tmp_path, "a")
    writer.append(b"one")
    writer.skip_to(10)
    assert writer.append(b"eleven") == 11
    assert reader.read() == (11, [b"eleven"])


def test_head_older_than_its_segments_is_corrected(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, "a", segment_bytes=SMALL)
    head = (tmp_path / "a.head").read_bytes()
    writer.extend(b"%d" % n * 200 for n in range(10, 50))
    reader = JournalReader(tmp_path, "a")
    first, records = reader.read(30)
    reader.acknowledge(first + len(records) - 1)
    reader.read()
    words = bytearray(head)
    words[8:16] = (40).to_bytes(8, "little")
    (tmp_path / "a.head").write_bytes(bytes(words))
    again = JournalReader(tmp_path, "a")
    assert again.acknowledged == segment_starts(tmp_path, "a")[0] - 1
    assert len(drain(again)) == 40 - (segment_starts(tmp_path, "a")[0] - 1) or again.acknowledged == 40


def test_journals_of_a_directory_are_found_by_name(tmp_path: Path) -> None:
    for name in ("user-2-b", "logs", "user-1-a"):
        JournalWriter(tmp_path, name)
    assert journal_names(tmp_path) == ["logs", "user-1-a", "user-2-b"]


def test_file_that_is_no_journal_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.head").write_bytes(b"\1" * 4096)
    with pytest.raises(FailedPrecondition, match="no journal of this version"):
        JournalReader(tmp_path, "a")


def test_synced_journal_is_still_readable(tmp_path: Path) -> None:
    JournalWriter(tmp_path, "a").append(b"x")
    reader = JournalReader(tmp_path, "a")
    reader.sync()
    assert reader.read() == (1, [b"x"])
