"""PyTorchCallback: code of the user's at the turning points of a trial."""

from typing import Any

from determined._json import JsonObject


class PyTorchCallback:
    """Override what is needed; every method here does nothing.

    Hooks run on every rank, except `on_checkpoint_save_start`, `on_checkpoint_end` and `on_checkpoint_write_end`, which
    run on the chief alone. `build_callbacks` of the trial gives them, and their names key what `state_dict` returns in
    checkpoints.

    Example:
        >>> class StopOnNaN(PyTorchCallback):
        ...     def __init__(self, context):
        ...         self.context = context
        ...
        ...     def on_training_workload_end(self, avg_metrics, batch_metrics):
        ...         if math.isnan(avg_metrics["loss"]):
        ...             self.context.set_stop_requested(True)
    """

    def on_trial_startup(self, first_batch_idx: int, checkpoint_uuid: str | None) -> None:
        """Run before data is loaded and before a checkpoint is restored.

        Args:
            first_batch_idx: batches trained before this process.
            checkpoint_uuid: the checkpoint that training goes on from, None for a fresh start.
        """

    def on_trial_shutdown(self) -> None:
        """Run at the end of the process, also after errors; callbacks are shut down in reverse order."""

    def on_training_start(self) -> None:
        """Run once, after loading and restoring, before the first batch."""

    def on_training_epoch_start(self, epoch_idx: int) -> None:
        """Run before the first batch of an epoch.

        Args:
            epoch_idx: counts from 0.
        """

    def on_training_epoch_end(self, epoch_idx: int) -> None:
        """Run after the last batch of an epoch.

        Args:
            epoch_idx: counts from 0.
        """

    def on_training_workload_end(self, avg_metrics: JsonObject, batch_metrics: list[JsonObject]) -> None:
        """Run whenever training metrics are due to be reported.

        Args:
            avg_metrics: what is reported: averages over batches and slots, and reduced metrics.
            batch_metrics: metrics of each batch, averaged over slots.
        """

    def on_before_optimizer_step(self, parameters: Any) -> None:
        """Deprecated, for `clip_grads` of `step_optimizer`: before an optimizer steps by gradients of their true size.
        With a `scaler` given to `step_optimizer` they are as your code left them: call `scaler.unscale_` before.

        Args:
            parameters: those of the optimizer.
        """

    def on_validation_start(self) -> None:
        """Run before a validation."""

    def on_validation_epoch_start(self) -> None:
        """Run before the first `evaluate_batch`; not called for `evaluate_full_dataset`."""

    def on_validation_epoch_end(self, outputs: list[Any]) -> None:
        """Run after the last `evaluate_batch`; not called for `evaluate_full_dataset`.

        Args:
            outputs: what `evaluate_batch` returned for each batch of this slot, tensors as numpy arrays.
        """

    def on_validation_end(self, metrics: JsonObject) -> None:
        """Run after a validation.

        Args:
            metrics: what is reported, on every rank.
        """

    def on_validation_step_start(self) -> None:
        """Older name of `on_validation_start`."""

    def on_validation_step_end(self, metrics: JsonObject) -> None:
        """Older name of `on_validation_end`."""

    def on_checkpoint_load_start(self, checkpoint: JsonObject | None) -> None:
        """Run before a checkpoint is put into models, optimizers and callbacks.

        Args:
            checkpoint: the content of `state_dict.pth`; may be changed.
        """

    def on_checkpoint_save_start(self, checkpoint: JsonObject) -> None:
        """Run before a checkpoint is written.

        Args:
            checkpoint: what `state_dict.pth` will hold; may be changed.
        """

    def on_checkpoint_end(self, checkpoint_dir: str) -> None:
        """Older name of `on_checkpoint_write_end`."""

    def on_checkpoint_write_end(self, checkpoint_dir: str) -> None:
        """Run after all files of a checkpoint are written, before they are stored. Files may be added.

        Args:
            checkpoint_dir: where they are.
        """

    def on_checkpoint_upload_end(self, uuid: str) -> None:
        """Run after a checkpoint is stored: with `async_checkpointing`, training may have gone on since it was saved.

        It is called at the next report, validation or checkpoint, and before training ends; random numbers that it
        draws are put back.

        Args:
            uuid: its id.
        """

    def state_dict(self) -> JsonObject:
        """Return what to keep in checkpoints."""
        return {}

    def load_state_dict(self, state_dict: JsonObject) -> None:
        """Take back what `state_dict` returned.

        Args:
            state_dict: from the checkpoint that is restored.
        """
