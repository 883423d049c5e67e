"""RunHook: a hook of TensorFlow's sessions that also hears of checkpoints and of the end of a trial."""

from collections.abc import Iterable
from typing import Any

import tensorflow as tf


class RunHook(tf.estimator.SessionRunHook):  # type: ignore[misc]
    """Derive from it, and give an instance to `TrainSpec(hooks=[...])`, to `EvalSpec(hooks=[...])`, or to both.

    Example:
        >>> class Notes(RunHook):
        ...     def on_checkpoint_end(self, checkpoint_dir):
        ...         (Path(checkpoint_dir) / "notes.txt").write_text(self.notes)
        ...     def on_checkpoint_load(self, checkpoint_dir):
        ...         self.notes = (Path(checkpoint_dir) / "notes.txt").read_text()
    """

    def on_checkpoint_load(self, checkpoint_dir: str) -> None:
        """Training goes on from the checkpoint in this directory; on every slot, before the first batch."""

    def on_checkpoint_end(self, checkpoint_dir: str) -> None:
        """A checkpoint was written into this directory and is stored next, with what is added here; on the chief."""

    def on_trial_close(self) -> None:
        """Training is over, for now or for good; on every slot, after errors too."""


def fire(hooks: Iterable[Any], event: str, *arguments: Any) -> None:
    """Call a method of those that are RunHooks."""
    for hook in hooks:
        if isinstance(hook, RunHook):
            getattr(hook, event)(*arguments)
