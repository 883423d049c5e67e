"""What a task left behind has its grace, and no more of it than is given in the end."""

import subprocess
import threading
import time
from types import SimpleNamespace

from determined.exec.runner.process import TaskProcess
from determined.exec.runner.termination import Termination
from determined.wire.report import ExitCause


def test_grace_that_becomes_shorter_is_heard_while_lingering() -> None:
    deaf = subprocess.Popen(["sleep", "600"], start_new_session=True)
    ending = Termination()
    ending.request(ExitCause.KILLED, "the runner was told to end", 600.0)
    sooner = threading.Timer(0.1, lambda: ending.request(ExitCause.KILLED, "another node of this task failed", 0.1))
    began = time.monotonic()
    sooner.start()
    try:
        TaskProcess.wait_after_term(SimpleNamespace(group=deaf.pid, _reap=lambda *_: None), ending)  # type: ignore[arg-type]
        assert time.monotonic() - began < 60
    finally:
        sooner.join()
        deaf.kill()
        deaf.wait()
