"""Freed memory goes back to the system where the C library can do it."""

import asyncio
import ctypes

import pytest

from determined.master.background import memory


def test_it_is_asked_for_where_it_exists_and_left_where_it_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    asyncio.run(memory.trim())

    def missing(_name: None) -> None:
        raise OSError("no such library")

    monkeypatch.setattr(ctypes, "CDLL", missing)
    asyncio.run(memory.trim())
