"""Ctrl-C while a log is followed, in the instant before the read that waits for the next line."""

import os
import signal
import socket
import threading
import time
from pathlib import Path

import pytest

from determined.cli.log_follow import _interruptible


def test_an_interrupt_that_did_not_wake_the_read_is_heard_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    here, there = socket.socketpair()
    gave_up = threading.Event()

    def hang_up() -> None:
        gave_up.set()
        there.close()

    give_up = threading.Timer(60, hang_up)
    give_up.start()
    # Taken by another thread, the signal is known to Python but wakes nobody: as if it had come just before the read.
    sender = threading.Thread(target=_interrupt_a_reader, args=(threading.get_native_id(),))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with pytest.raises(KeyboardInterrupt), _interruptible("det trial logs -f 7"):
            sender.start()
            here.recv(1)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        give_up.cancel()
        sender.join()
        here.close()
        there.close()
    assert not gave_up.is_set()
    assert "det trial logs -f 7" in capsys.readouterr().err


def _interrupt_a_reader(reader: int) -> None:
    """Once it sleeps in its read, and with nobody but this thread to take the signal."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    state = Path(f"/proc/self/task/{reader}/wchan")
    for _ in range(1000):
        if "unix_stream" in state.read_text() or "skb" in state.read_text():
            break
        time.sleep(0.002)
    os.kill(os.getpid(), signal.SIGINT)
