"""keras.TensorBoard: Keras's own TensorBoard callback, writing to where the platform keeps a trial's event files."""

import logging
from typing import Any

from determined import core
from determined._json import JsonObject
from determined.keras import _event_writers, _framework

logger = logging.getLogger("determined.keras")

_keras: Any = _framework.load_keras()


class TensorBoard(_keras.callbacks.TensorBoard):  # type: ignore[misc]
    """Keras's TensorBoard callback for a trial: its files are copied to the checkpoint storage as they grow.

    Args:
        core_context: from `core.init`. In `TensorboardMode.MANUAL` the files are copied after each epoch and
            validation; else core does it.
        *args: arguments of `keras.callbacks.TensorBoard`.
        **kwargs: arguments of `keras.callbacks.TensorBoard`. On a cluster `log_dir` is ignored.

    Example:
        >>> model.fit(x, y, callbacks=[det.keras.TensorBoard(core_context, histogram_freq=1), callback])
    """

    def __init__(self, core_context: core.Context, *args: object, **kwargs: object) -> None:
        self._core = core_context
        log_dir = core_context.train.get_tensorboard_path()
        if log_dir is not None:
            given = kwargs.pop("log_dir", None) or (args[0] if args else None)
            if given is not None:
                logger.warning("log_dir=%r is ignored on a cluster; event files go to %s", given, log_dir)
            args, kwargs = args[1:], {**kwargs, "log_dir": str(log_dir)}
        super().__init__(*args, **kwargs)

    def on_epoch_end(self, epoch: int, logs: JsonObject | None = None) -> None:
        super().on_epoch_end(epoch, logs)
        self._flush()

    def on_test_end(self, logs: JsonObject | None = None) -> None:
        super().on_test_end(logs)
        self._flush()

    def on_train_end(self, logs: JsonObject | None = None) -> None:
        super().on_train_end(logs)
        self._upload()

    def _flush(self) -> None:
        """Write what is still in a writer's memory: it would be lost with the process, and is not there to be
        copied."""
        _event_writers.flush([self])
        self._upload()

    def _upload(self) -> None:
        train = self._core.train
        if getattr(train, "_tensorboard_mode", None) is core.TensorboardMode.MANUAL:
            train.upload_tensorboard_files()
