"""Interruptions of a training at batches that a plan names, each of them once: by its own kill -9, or by waiting there
until somebody has paused it."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

POLLS = 6000
POLL_SECONDS = 0.02


class Interruptions:
    """The hyperparameter `notes` names a directory with `plan.json`; what was done is noted there as files.

    A plan has batches by `pause` and `kill`, and by `kill_in_checkpoint` checkpoints by their batches.
    """

    def __init__(self, context: Any) -> None:
        self._context = context
        self._notes = Path(context.get_hparam("notes"))
        plan = self._notes / "plan.json"
        self._plan: dict[str, list[int]] = json.loads(plan.read_text()) if plan.exists() else {}

    def at_batch(self, batch: int) -> None:
        """On every rank, in train_batch."""
        distributed = self._context.distributed
        if self._is_due("kill", batch) and distributed.rank == batch % distributed.size:
            os.kill(os.getpid(), signal.SIGKILL)
        if self._is_due("pause", batch):
            self._await_pause()

    def at_checkpoint(self) -> None:
        """On the chief, while a checkpoint is being made."""
        batch = self._context.current_train_batch() + 1
        if batch in self._plan.get("kill_in_checkpoint", ()) and self._note(f"kill_in_checkpoint-{batch}"):
            os.kill(os.getpid(), signal.SIGKILL)

    def _is_due(self, what: str, batch: int) -> bool:
        """The same answer on every rank."""
        if batch not in self._plan.get(what, ()):
            return False
        distributed = self._context.distributed
        return bool(distributed.broadcast(self._note(f"{what}-{batch}") if distributed.rank == 0 else None))

    def _note(self, name: str) -> bool:
        """Return whether this is the first time."""
        try:
            (self._notes / name).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def _await_pause(self) -> None:
        """Asked here and not acknowledged: leaving is left to the training loop."""
        for _ in range(POLLS):
            if self._context._core.preempt.should_preempt(auto_ack=False):
                return
            time.sleep(POLL_SECONDS)
        raise TimeoutError("nobody has paused this trial")
