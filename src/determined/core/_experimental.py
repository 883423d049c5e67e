"""ExperimentalCoreContext: links between this task and the checkpoints or model versions it uses."""

from typing import Any

from determined.core._master import Master


class ExperimentalCoreContext:
    """May change from release to release."""

    def __init__(self, master: Master, trial_id: int) -> None:
        self._master = master
        self._trial_id = trial_id

    def report_task_using_checkpoint(self, checkpoint: Any) -> None:
        """Note that this trial runs inference on `checkpoint` (an SDK object with a `uuid`)."""
        self._report(checkpoint.uuid)

    def report_task_using_model_version(self, model_version: Any) -> None:
        """Note that this trial runs inference on a registered model version (an SDK object)."""
        if model_version.checkpoint is None:  # made by hand, and not read from the master yet
            model_version.reload()
        self._report(model_version.checkpoint.uuid, model_version.model_id, model_version.model_version)

    def _report(self, checkpoint_uuid: str, model_id: int | None = None, model_version: int | None = None) -> None:
        from determined.wire import trial as wire

        info = wire.TrialSourceInfo(
            checkpoint_uuid=checkpoint_uuid,
            trial_id=self._trial_id,
            trial_source_info_type=wire.TrialSourceInfoType.INFERENCE,
            model_id=model_id,
            model_version=model_version,
        )
        request = wire.ReportTrialSourceInfoRequest(trial_source_info=info)
        self._master.insist(lambda s: s.call(wire.REPORT_TRIAL_SOURCE, request), "trial source info")
