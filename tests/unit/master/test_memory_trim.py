"""Freed memory goes back to the system where the C library can do it."""

import asyncio
import ctypes
import subprocess
import sys
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
    assert engine.pool.checkedin() == 3, "idle connections are given back, and the new one"

    def missing(_name: None) -> None:
        raise OSError("no such library")

    monkeypatch.setattr(ctypes, "CDLL", missing)
    asyncio.run(memory.trim(engine))
    engine.dispose()


_HASHES_IN_THREADS = """
import ctypes, sys, threading
from determined.master.auth import password
from determined.master.background import memory
if not hasattr(ctypes.CDLL(None), "mallopt"):
    sys.exit("no mallopt")
memory.set_thresholds()
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
password.verify_dummy("first")
before = resident()
go_on = threading.Barrier(9)
def work():
    password.verify_dummy("wrong")
    go_on.wait()
    go_on.wait()
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
go_on.wait()
print(resident() - before)
go_on.wait()
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads its size from /proc")
def test_threads_that_hashed_a_password_keep_nothing_of_its_19_mib() -> None:
    program = [sys.executable, "-c", _HASHES_IN_THREADS]
    run = subprocess.run(program, capture_output=True, text=True, timeout=120, check=False)
    if "no mallopt" in run.stderr:
        pytest.skip("this C library has no mallopt")
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 19 * 1024 * 1024, "eight threads keep less than one of them has used"


def test_values_bound_to_a_statement_are_freed_with_its_connection(tmp_path: Path) -> None:
    try:
        used = ctypes.CDLL("libsqlite3.so.0").sqlite3_memory_used
    except OSError:
        pytest.skip("this Python has an SQLite of its own, which cannot be asked")
    used.restype = ctypes.c_longlong
    engine = dialects.create_engine(f"sqlite:///{tmp_path / 'a.db'}")
    with engine.begin() as conn:
        conn.exec_driver_sql("CREATE TABLE t (x)")
        conn.exec_driver_sql("INSERT INTO t VALUES (?)", (b"x" * 8_000_000,))
    if used() < 8_000_000:
        pytest.skip("the driver frees them itself, or uses another SQLite")
    dialects.release_memory(engine)
    assert used() < 8_000_000
    engine.dispose()
