"""generic.Context: a Core API context that is already started, and ends with the script."""

from collections.abc import Callable

from determined import core
from determined.errors import InvalidHP
from determined.generic._checkpoint import Checkpointing, ErrorInfo, LatestCheckpoint, Steps
from determined.generic._search import Search, Unit
from determined.generic._training import Training, Trial


class Context:
    """Generic API of this process, made by `generic.init`. It closes itself when the script ends; a `with` block closes
    it earlier.

    Attributes:
        training, checkpoint: the parts.
        distributed: who this process is among its peers.
        info: the task this process runs in, None off cluster.
        core: the Core API context underneath.
        latest_checkpoint: what to go on from, None at a first start; fixed when the process starts.
    """

    def __init__(
        self, context: core.Context, trial: Trial, unit: Unit | None, on_close: Callable[[], None] = lambda: None
    ) -> None:
        self.core = context
        self.distributed = context.distributed
        self.info = context.info
        steps = Steps(trial.steps_completed)
        self._search = Search(context, unit)
        self.training = Training(context, trial, self._search, steps)
        self.checkpoint = Checkpointing(context.checkpoint, steps)
        latest = None if context.info is None else context.info.latest_checkpoint
        self.latest_checkpoint = None if latest is None else LatestCheckpoint(latest, context.checkpoint)
        self._on_close = on_close
        self._closed = False
        self._failed = False

    def should_preempt(self, block: bool = True, auto_ack: bool = True) -> bool:
        """Return whether to save a checkpoint and exit now. True stays True. On a job of several ranks all must ask.

        Args:
            block: whether the answer is worth waiting for. It never is: this is a look at a flag in shared memory,
                cheap enough for every batch, so both values do the same.
            auto_ack: acknowledge the first True, so that exiting with status 0 means "restart me later".
        """
        return self.core.preempt.should_preempt(auto_ack=auto_ack)

    def close(self) -> None:
        """Leave the search and tidy up. Happens by itself at the end of the script; again changes nothing."""
        if self._closed:
            return
        self._closed = True
        self._on_close()
        if not self._failed:
            self._search.leave()
        self.core.close()

    def __enter__(self) -> "Context":
        return self

    def __exit__(self, *error: *ErrorInfo) -> None:
        if error[1] is not None:
            self._fail()
        if not isinstance(error[1], InvalidHP) or self._closed:
            self.close()
            return
        self._closed = True
        self._on_close()
        self.core.__exit__(*error)

    def _fail(self) -> None:
        """The script ends with an error: what it completed must not be taken for a wish to be restarted."""
        self._failed = True
