"""A task prints no faster than the master takes its output, unless the master is away."""

import threading
from dataclasses import dataclass

import pytest

from determined.exec.runner import unsent_output
from determined.exec.runner.unsent_output import UnsentOutput

LINE = b"x" * 84  # 100 bytes with what a record needs besides
HANG_SECONDS = 60.0


@dataclass
class Journal:
    committed: int = 0
    acknowledged: int = 0


class Printing:
    """Output of a task, and a thread that waits to print on."""

    def __init__(self) -> None:
        self.journal, self.is_master_away, self.now = Journal(), False, 1000.0
        self.unsent = UnsentOutput(self.journal, lambda: self.now)
        self._waiting = threading.Thread()

    def add(self, lines: int) -> None:
        self.journal.committed += lines
        self.unsent.add([LINE] * lines)

    def wait(self) -> None:
        self._waiting = threading.Thread(target=self.unsent.wait, args=(lambda: self.is_master_away,), daemon=True)
        self._waiting.start()

    def goes_on(self, seconds: float = HANG_SECONDS) -> bool:
        self._waiting.join(seconds)
        return not self._waiting.is_alive()


@pytest.fixture
def printing(monkeypatch: pytest.MonkeyPatch) -> Printing:
    monkeypatch.setattr(unsent_output, "MOST_BYTES", 1000)
    monkeypatch.setattr(unsent_output, "BYTES_A_SECOND_ALONE", 100)
    monkeypatch.setattr(unsent_output, "MOST_BYTES_ALONE", 10_000)
    return Printing()


def test_printing_waits_until_the_master_has_most_of_it(printing: Printing) -> None:
    printing.add(10)
    printing.wait()
    assert printing.goes_on()
    printing.add(5)
    printing.wait()
    assert not printing.goes_on(0.05)
    printing.journal.acknowledged = 10
    assert printing.goes_on()


def test_printing_goes_on_while_the_master_is_away_and_its_rest_only_must_not_grow_afterwards(
    printing: Printing,
) -> None:
    printing.is_master_away = True
    printing.add(60)
    printing.wait()
    assert not printing.goes_on(0.05), "it prints faster than a training"
    printing.now += 50
    assert printing.goes_on()
    printing.is_master_away = False
    printing.wait()
    assert printing.goes_on(), "nobody waits until all of it is sent"
    printing.add(1)
    printing.wait()
    assert not printing.goes_on(0.05)
    printing.journal.acknowledged = 60
    assert printing.goes_on()


def test_time_with_the_master_counts_for_nothing_when_it_goes_away(printing: Printing) -> None:
    printing.add(10)
    printing.wait()
    assert printing.goes_on()
    printing.now += 1000
    printing.is_master_away = True
    printing.add(1)
    printing.wait()
    assert not printing.goes_on(0.05)
    printing.now += 1
    assert printing.goes_on()


def test_printing_that_fills_the_disk_waits_for_a_master_who_is_away(printing: Printing) -> None:
    printing.is_master_away = True
    printing.add(101)
    printing.wait()
    assert not printing.goes_on(0.05)
    printing.now += 1000
    assert not printing.goes_on(0.05)
    printing.unsent.lift()
    assert printing.goes_on()
