"""EnvContext: everything the platform told a trial at its start, under the names user code has for it."""

from dataclasses import dataclass, field
from typing import Any

from determined._info import ClusterInfo
from determined._json import JsonObject
from determined.config import apply_defaults
from determined.search.rng import Rng
from determined.search.sampling import sample
from determined.trial._experiment_config import ExperimentConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvContext:
    """Environment of a trial, `context.env`. Off cluster, fields that name places of a cluster are empty.

    Attributes:
        managed_training: False where nothing trains: debugging, and loading a checkpoint.
        test_mode: one batch, one validation, one checkpoint.
        use_gpu: whether this trial has accelerators.
    """

    experiment_config: ExperimentConfig
    hparams: JsonObject
    trial_seed: int = 0
    steps_completed: int = 0
    latest_checkpoint: str | None = None
    managed_training: bool = True
    test_mode: bool = False
    on_cluster: bool = False
    debug: bool = False
    use_gpu: bool = False
    container_gpus: list[str] = field(default_factory=list)
    slot_ids: list[int] = field(default_factory=list)
    det_trial_id: str = "0"
    det_experiment_id: str = "0"
    det_agent_id: str = ""
    det_cluster_id: str = ""
    trial_run_id: int = 0
    allocation_id: str = ""
    master_url: str = ""
    master_cert_file: str | None = None
    master_cert_name: str | None = None

    @classmethod
    def from_info(cls, info: ClusterInfo) -> "EnvContext":
        """The environment of a trial on a cluster; RuntimeError in a task that is no trial."""
        trial = info.trial
        gpus = [] if info._resources_info is None else info.gpu_uuids
        return cls(
            experiment_config=ExperimentConfig(trial._config),
            hparams=trial.hparams,
            trial_seed=trial.trial_seed,
            steps_completed=trial._steps_completed,
            latest_checkpoint=info.latest_checkpoint,
            on_cluster=True,
            debug=trial._debug,
            use_gpu=bool(gpus),
            container_gpus=gpus,
            slot_ids=info.slot_ids,
            det_trial_id=str(trial.trial_id),
            det_experiment_id=str(trial.experiment_id),
            det_agent_id=info.agent_id,
            det_cluster_id=info.cluster_id,
            trial_run_id=trial._trial_run_id,
            allocation_id=info.allocation_id,
            master_url=info.master_url,
            master_cert_file=info.master_cert_file,
            master_cert_name=info.master_cert_name,
        )

    @classmethod
    def from_config(cls, config: JsonObject, *, seed: int, **fields: Any) -> "EnvContext":
        """The environment for trying a trial off cluster.

        Trials read sections of their config that its file may leave out, such as `resources`: they find there what
        they would find on a cluster.

        Args:
            config: an experiment config, as written in YAML.
            seed: seeds the trial and the draw of hyperparameters; the config's own seed goes before it.
            fields: further fields, such as `managed_training`.
        """
        filled = ExperimentConfig(apply_defaults(config, seed=seed, name="off cluster"))
        seed = filled.experiment_seed()
        hparams = sample(filled._typed.hyperparameters, Rng(seed))
        return cls(experiment_config=filled, hparams=hparams, trial_seed=seed, **fields)
