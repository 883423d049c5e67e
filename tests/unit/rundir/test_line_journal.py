"""LineJournal: prints from signal handlers, and forks while another thread prints."""

import os
import threading
from pathlib import Path
from typing import Any

import msgspec

from determined.rundir.journal import JournalReader, journal_names
from determined.rundir.line_journal import LineJournal

HANG_SECONDS = 20.0


def lines_of(directory: Path) -> list[str]:
    [name] = journal_names(directory)
    return [msgspec.msgpack.decode(raw)[1] for raw in JournalReader(directory, name).read()[1]]


def interrupt(journal: LineJournal, handler: Any) -> None:
    """Call a handler in the midst of the next feed, as a signal does."""
    parser = journal._parsers["stdout"]
    original = parser.feed

    def interrupted(chunk: bytes) -> Any:
        parser.feed = original  # type: ignore[method-assign]
        lines = original(chunk)
        handler()
        return lines

    parser.feed = interrupted  # type: ignore[method-assign]


def finishes(job: Any) -> bool:
    thread = threading.Thread(target=job, daemon=True)
    thread.start()
    thread.join(HANG_SECONDS)
    return not thread.is_alive()


def test_a_signal_handler_may_print_while_its_thread_prints(tmp_path: Path) -> None:
    journal = LineJournal(tmp_path)
    interrupt(journal, lambda: journal.feed(b"handler\n", "stdout"))
    assert finishes(lambda: journal.feed(b"first\n", "stdout"))
    journal.feed(b"last\n", "stdout")
    journal.close()
    assert lines_of(tmp_path) == ["first", "handler", "last"]


def test_a_signal_handler_may_close_while_its_thread_prints(tmp_path: Path) -> None:
    journal = LineJournal(tmp_path)
    interrupt(journal, journal.close)
    assert finishes(lambda: journal.feed(b"first\nrest", "stdout"))
    assert lines_of(tmp_path) == ["first", "rest"]


def test_a_child_that_is_forked_while_another_thread_prints_can_print(tmp_path: Path) -> None:
    journal = LineJournal(tmp_path)
    is_printing, may_go_on = threading.Event(), threading.Event()

    def wait() -> None:
        is_printing.set()
        may_go_on.wait(HANG_SECONDS)

    interrupt(journal, wait)
    thread = threading.Thread(target=lambda: journal.feed(b"first\n", "stdout"), daemon=True)
    thread.start()
    assert is_printing.wait(HANG_SECONDS)
    if (child := os.fork()) == 0:
        os._exit(0 if finishes(lambda: journal.feed(b"child\n", "stderr")) else 1)
    assert os.waitpid(child, 0)[1] == 0
    may_go_on.set()
    thread.join(HANG_SECONDS)
    journal.close()
    assert lines_of(tmp_path) == ["first"]
