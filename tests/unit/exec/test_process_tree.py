"""Descendants of a process, by the kernel's lists of children and without them."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import psutil
import pytest

from determined.exec.runner import process_tree

# A child of a second thread, a grandchild, one in another session, and one that has ended and is not waited for.
FAMILY = """
import subprocess, sys, threading, time
def start(*words, **how):
    return subprocess.Popen(words, **how)
thread = threading.Thread(target=lambda: (start("sleep", "300"), time.sleep(300)), daemon=True)
thread.start()
start("sh", "-c", "sleep 300 & sleep 300")
start("sleep", "300", start_new_session=True)
ended = start("true")
time.sleep(300)
"""


@pytest.fixture
def family() -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", FAMILY]) as leader:
        yield leader.pid
        for process in [*psutil.Process(leader.pid).children(recursive=True), psutil.Process(leader.pid)]:
            process.kill()


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def lists_of_children(monkeypatch: pytest.MonkeyPatch, *, are_there: bool) -> None:
    if not are_there:
        monkeypatch.setattr(process_tree, "_CHILDREN", "/nowhere/{pid}/{thread}")


@pytest.mark.parametrize("are_there", [True, False], ids=["lists", "no lists"])
def test_all_live_descendants_are_found(family: int, monkeypatch: pytest.MonkeyPatch, are_there: bool) -> None:
    lists_of_children(monkeypatch, are_there=are_there)
    eventually(lambda: len(psutil.Process(family).children(recursive=True)) == 6)

    def live() -> set[int]:
        children = psutil.Process(family).children(recursive=True)
        return {process.pid for process in children if process.status() != psutil.STATUS_ZOMBIE}

    eventually(lambda: len(live()) == 5)
    assert process_tree.descendants(family) == live()
    assert process_tree.descendants(os.getpid()) >= live() | {family}


@pytest.mark.parametrize("are_there", [True, False], ids=["lists", "no lists"])
def test_process_that_is_gone_has_no_descendants(monkeypatch: pytest.MonkeyPatch, are_there: bool) -> None:
    lists_of_children(monkeypatch, are_there=are_there)
    done = subprocess.Popen(["true"])
    done.wait()
    assert process_tree.descendants(done.pid) == set()
