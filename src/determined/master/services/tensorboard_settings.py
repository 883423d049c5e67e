"""Settings of a TensorBoard's program: its sources, each with its own storage and credentials."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from determined._json import JsonObject
from determined.config.job import JobConfig
from determined.master.services.experiment_files import tensorboard_of_experiments
from determined.wire.tensorboard_settings import TensorboardSettings, TensorboardSource


@dataclass(frozen=True, slots=True)
class SourceTrial:
    """Trial whose event files are shown. `storage`: the section of its experiment, or one it has chosen itself."""

    id: int
    experiment_id: int
    storage: JsonObject


def tensorboard_settings(
    experiments: Mapping[int, JsonObject], trials: Iterable[SourceTrial], config: JobConfig, cluster_id: str
) -> JsonObject:
    """Return the settings.

    Args:
        experiments: the `checkpoint_storage` section, with credentials, of each experiment that is shown, by its id.
        trials: those that are shown by themselves.
        config: the task's own.
        cluster_id: of this cluster.

    A trial of an experiment that is a source itself adds nothing, unless its files lie in another storage.
    """
    single = {one.id: one for one in trials if experiments.get(one.experiment_id) != one.storage}
    sources = [_of_experiment(cluster_id, id_, experiments[id_]) for id_ in sorted(experiments)]
    sources += [_of_trial(cluster_id, one) for _, one in sorted(single.items())]
    settings = TensorboardSettings(sources=sources, args=list(config.tensorboard_args))
    plain: JsonObject = msgspec.to_builtins(settings)
    return plain


def _of_experiment(cluster_id: str, experiment_id: int, storage: JsonObject) -> TensorboardSource:
    prefix = f"{tensorboard_of_experiments(cluster_id)}/{experiment_id}"
    return TensorboardSource(name=f"experiment/{experiment_id}", storage=storage, prefix=prefix)


def _of_trial(cluster_id: str, trial: SourceTrial) -> TensorboardSource:
    prefix = f"{tensorboard_of_experiments(cluster_id)}/{trial.experiment_id}/trial/{trial.id}"
    return TensorboardSource(name=f"trial/{trial.id}", storage=trial.storage, prefix=prefix)
