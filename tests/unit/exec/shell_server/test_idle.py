"""Reports of use: while somebody works or a program runs in the foreground, and not else."""

import asyncio
import itertools
from collections.abc import Callable

import pytest

from determined.errors import Unavailable
from determined.exec.shell_server.host import Host
from determined.exec.shell_server.idle import report_use


class Enough(Exception):
    """As many reports as the test wants."""


def counting(wanted: int, failures: int = 0) -> Callable[[], None]:
    """Return what is told: the first reports fail, the last ends the test."""
    numbers = itertools.count(1)

    def told() -> None:
        number = next(numbers)
        if number <= failures:
            raise Unavailable("the master is away")
        if number == wanted:
            raise Enough

    return told


def test_a_shell_that_was_just_used_is_in_use() -> None:
    host = Host({})
    assert host.was_used_within(60.0) and not host.was_used_within(0.0)


async def test_a_program_in_the_foreground_is_use_without_a_word() -> None:
    host = Host({})
    host.commands.add("a command that prints nothing")
    assert host.was_used_within(0.0)
    with pytest.raises(Enough):
        await asyncio.wait_for(report_use(host, counting(3), seconds=0.001), 60)


async def test_a_master_that_is_away_is_told_later() -> None:
    host = Host({})
    host.commands.add("runs")
    with pytest.raises(Enough):
        await asyncio.wait_for(report_use(host, counting(4, failures=2), seconds=0.001), 60)
