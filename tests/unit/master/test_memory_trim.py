"""Freed memory goes back to the system where the C library can do it."""

import asyncio
import ctypes
from pathlib import Path

import pytest

from determined.master.background import memory
from determined.master.db import dialects


def test_it_is_asked_for_where_it_exists_and_left_where_it_does_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    engine = dialects.create_engine(f"sqlite:///{tmp_path / 'a.db'}")
    with engine.connect() as one, engine.connect() as other:
        assert one.exec_driver_sql("SELECT 1").scalar() == other.exec_driver_sql("SELECT 1").scalar() == 1
    asyncio.run(memory.trim(engine))
    assert engine.pool.checkedin() == 2, "idle connections are given back"

    def missing(_name: None) -> None:
        raise OSError("no such library")

    monkeypatch.setattr(ctypes, "CDLL", missing)
    asyncio.run(memory.trim(engine))
    engine.dispose()
