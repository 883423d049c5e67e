"""Upstream's first detached mode (0.23, 0.24): the steps of `core_v2.init_context` one by one. New scripts use that."""

from typing import Any

from determined import core
from determined._info import ClusterInfo
from determined._json import JsonObject
from determined.api import trial as trials
from determined.config import parse_yaml
from determined.core import DistributedContext, PreemptMode, TensorboardMode
from determined.core.detached import context as detached
from determined.core.detached.experiment import ExperimentRequest, storage_section
from determined.core.detached.registration import Registered, cluster_info, register_experiment, register_trial, start
from determined.sdk.determined import Determined


def create_unmanaged_experiment(client: Determined, config_text: str) -> int:
    """Make an experiment whose trials run outside of the cluster, and return its id."""
    return register_experiment(client._session, ExperimentRequest(), parse_yaml(config_text))


def create_unmanaged_trial(client: Determined, experiment_id: int, hparams: JsonObject | None = None) -> int:
    """Make a trial of such an experiment, and return its id."""
    return register_trial(client._session, ExperimentRequest(hparams=hparams), experiment_id).id


def build_unmanaged_trial_cluster_info(client: Determined, trial_id: int, config_text: str) -> ClusterInfo:
    """Start a trial, or take it up again, and return what `init` needs of it."""
    session = client._session
    registered: Registered = start(session, trials.get(session, trial_id), parse_yaml(config_text))
    return cluster_info(session, registered)


def create_unmanaged_trial_cluster_info(
    client: Determined, config_text: str, experiment_id: int, hparams: JsonObject | None = None
) -> ClusterInfo:
    """Make a trial of an experiment, start it, and return what `init` needs of it."""
    trial_id = create_unmanaged_trial(client, experiment_id, hparams)
    return build_unmanaged_trial_cluster_info(client, trial_id, config_text)


def create_unmanaged_cluster_info(
    client: Determined, config_text: str, hparams: JsonObject | None = None
) -> ClusterInfo:
    """Make an experiment and a trial, start it, and return what `init` needs of it."""
    experiment_id = create_unmanaged_experiment(client, config_text)
    return create_unmanaged_trial_cluster_info(client, config_text, experiment_id, hparams)


def init(
    *,
    unmanaged_info: ClusterInfo,
    client: Determined | None = None,
    distributed: DistributedContext | None = None,
    checkpoint_storage: str | JsonObject | None = None,
    preempt_mode: PreemptMode = PreemptMode.WorkersAskChief,
    tensorboard_mode: TensorboardMode = TensorboardMode.AUTO,
) -> core.Context:
    """Return a Core API context of the trial, for a `with` block.

    Args:
        unmanaged_info: of one of the functions above.
        client: logged in at the master; by default as `Determined()` does.
        distributed, checkpoint_storage, preempt_mode, tensorboard_mode: as for `core.init`.

    Raises:
        ValueError: `unmanaged_info` is not of such a trial, or the storage makes no sense.
    """
    if not getattr(unmanaged_info, "_is_unmanaged", False):
        raise ValueError("unmanaged_info is not of an unmanaged trial; make it with create_unmanaged_cluster_info()")
    configured: Any = unmanaged_info.trial._config.get("checkpoint_storage")
    given = configured if checkpoint_storage is None else checkpoint_storage
    return detached.context(
        (client or Determined())._session,
        unmanaged_info,
        distributed=distributed,
        checkpoint_storage=storage_section(given, detached.default_storage()),
        preempt_mode=preempt_mode,
        tensorboard_mode=tensorboard_mode,
    )


def url_reverse_webui_exp_view(client: Determined, experiment_id: int) -> str:
    """Return the address of an experiment's page."""
    return f"{client._session.master_url}/det/experiments/{experiment_id}"
