"""For every test: an interrupt is heard as at a terminal, also in a suite that a shell runs in the background; programs
that it starts die of a hangup, also under nohup; property tests try the same examples everywhere, however slow it is.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from webhook_receiver import Receiver

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode adds no folder to the path
signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)  # children inherit what is ignored, but no handler

with contextlib.suppress(ImportError):  # environments of frameworks have no Hypothesis
    from hypothesis import HealthCheck, settings

    settings.register_profile("steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("steady")

# Tasks have a /tmp of their own; what their scripts write for a test to see lies elsewhere.
if Path("/var/tmp").is_dir():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/var/tmp")


@pytest.fixture
def receiver() -> Iterator["Receiver"]:
    """Start a receiver of webhooks on loopback."""
    from webhook_receiver import Receiver

    running = Receiver()
    yield running
    running.close()
