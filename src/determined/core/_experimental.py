"""ExperimentalCoreContext: links between this task and the checkpoints or model versions it uses."""

from typing import Any

from determined._json import JsonObject
from determined.core._master import Master

_PATH = "/api/v1/trial-source-info"


class ExperimentalCoreContext:
    """May change from release to release."""

    def __init__(self, master: Master, trial_id: int) -> None:
        self._master = master
        self._trial_id = trial_id

    def report_task_using_checkpoint(self, checkpoint: Any) -> None:
        """Note that this trial runs inference on `checkpoint` (an SDK object with a `uuid`)."""
        self._report({"checkpointUuid": checkpoint.uuid})

    def report_task_using_model_version(self, model_version: Any) -> None:
        """Note that this trial runs inference on a registered model version (an SDK object)."""
        self._report(
            {
                "checkpointUuid": model_version.checkpoint.uuid,
                "modelId": model_version.model_id,
                "modelVersion": model_version.model_version,
            }
        )

    def _report(self, source: JsonObject) -> None:
        info = {**source, "trialId": self._trial_id, "trialSourceInfoType": "TRIAL_SOURCE_INFO_TYPE_INFERENCE"}
        self._master.insist(lambda session: session.post(_PATH, {"trialSourceInfo": info}), "trial source info")
