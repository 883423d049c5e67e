"""Public names that documents and examples of 0.12 to 0.38 used: each works, or says in one sentence what to do.

A row is a dotted name and what it does now. "works": it can be had. "needs X": it can be had where X is installed.
Anything else is a part of the sentence that its import, or its call without arguments, raises.
"""

import importlib
import inspect
import re
import subprocess
import sys
import warnings
from typing import Any

import pytest

WORKS = "works"

NAMES = {
    # import determined as det
    "determined.Categorical": WORKS, "determined.Constant": WORKS, "determined.Double": WORKS,
    "determined.Integer": WORKS, "determined.Log": WORKS, "determined.ClusterInfo": WORKS,
    "determined.TrialInfo": WORKS, "determined.RendezvousInfo": WORKS, "determined.ResourcesInfo": WORKS,
    "determined.EnvContext": WORKS, "determined.ExperimentConfig": WORKS, "determined.TrialContext": WORKS,
    "determined.Trial": WORKS, "determined.LegacyTrial": WORKS, "determined.NativeContext": WORKS,
    "determined.TrialController": "derive from PyTorchTrial or use core.init()",
    "determined.InvalidHP": WORKS, "determined.LOG_FORMAT": WORKS, "determined.__version__": WORKS,
    "determined.create": WORKS, "determined.get_cluster_info": WORKS, "determined.import_from_path": WORKS,
    "determined.core": WORKS, "determined.errors": WORKS, "determined.experimental": WORKS, "determined.util": WORKS,
    # Core API
    "determined.core.init": WORKS, "determined.core.Context": WORKS, "determined.core.DistributedContext": WORKS,
    "determined.core.DummyDistributedContext": WORKS, "determined.core.PreemptMode": WORKS,
    "determined.core.SearcherMode": WORKS, "determined.core.EarlyExitReason": WORKS,
    "determined.core.TensorboardMode": WORKS, "determined.core.DownloadMode": WORKS, "determined.core.Unit": WORKS,
    "determined._core.init": WORKS, "determined._generic.init": WORKS, "determined.generic.init": WORKS,
    # errors and helpers
    "determined.errors.InvalidExperimentException": WORKS, "determined.errors.CheckpointNotFound": WORKS,
    "determined.errors.InternalException": WORKS, "determined.errors.EnterpriseOnlyError": WORKS,
    "determined.util.json_encode": WORKS, "determined.util.merge_dicts": WORKS,
    "determined.util.download_gcs_blob_with_backoff": WORKS, "determined.horovod.hvd": WORKS,
    "determined.common.util.safe_load_yaml_with_exceptions": WORKS, "determined.common.util.yaml_safe_load": WORKS,
    "determined.common.check.eq": WORKS, "determined.common.constants.DEFAULT_DETERMINED_USER": WORKS,
    "determined.common.storage.SharedFSStorageManager": WORKS, "determined.common.storage.S3StorageManager": WORKS,
    "determined.common.api.errors.NotFoundException": WORKS, "determined.common.api.errors.APIException": WORKS,
    "determined.common.api.Session": WORKS,
    "determined.common.api.bindings.get_GetExperiment": WORKS, "determined.common.api.bindings.v1Experiment": WORKS,
    "determined.common.api.authentication.login": WORKS, "determined.common.api.certs.Cert": WORKS,
    "determined.common.api.UnauthSession": WORKS, "determined.common.api.read_paginated": WORKS,
    "determined.common.context.read_v1_context": WORKS, "determined.common.context.read_legacy_context": WORKS,
    "determined.common.util.parse_protobuf_timestamp": WORKS, "determined.cli.ntsc.parse_config": WORKS,
    "determined.common.experimental.oauth2_scim_client.Oauth2ScimClient": WORKS,
    "determined.common.experimental.Determined": WORKS, "determined.common.experimental.ExperimentReference": WORKS,
    "determined.common.experimental.checkpoint.CheckpointState": WORKS,
    "determined.common.experimental.determined.Determined": WORKS,
    "determined.common.experimental.experiment.ExperimentReference": WORKS,
    "determined.common.experimental.experiment.ExperimentState": WORKS,
    "determined.common.experimental.metrics.TrialMetrics": WORKS,
    "determined.common.experimental.model.Model": WORKS,
    "determined.common.experimental.project.Project": WORKS,
    "determined.common.experimental.resource_pool.ResourcePool": WORKS,
    "determined.common.experimental.session.Session": WORKS,
    "determined.common.experimental.trial.TrialReference": WORKS,
    "determined.common.experimental.user.User": WORKS,
    "determined.common.experimental.workspace.Workspace": WORKS,
    "determined_common.experimental.Determined": WORKS, "determined_common.check.check_eq": WORKS,
    "determined_common.storage.SharedFSStorageManager": WORKS, "determined_common.api.errors.APIException": WORKS,
    "determined_common.util.safe_load_yaml_with_exceptions": WORKS,
    # SDK
    "determined.experimental.client.create_experiment": WORKS, "determined.experimental.client.get_experiment": WORKS,
    "determined.experimental.client.get_trial": WORKS, "determined.experimental.client.get_checkpoint": WORKS,
    "determined.experimental.client.login": WORKS, "determined.experimental.client.list_experiments": WORKS,
    "determined.experimental.client.stream_trials_training_metrics": WORKS,
    "determined.experimental.client.ExperimentState": WORKS, "determined.experimental.client.ResourcePool": WORKS,
    "determined.experimental.client.create_model": WORKS, "determined.experimental.client.get_model": WORKS,
    "determined.experimental.client.get_model_by_id": WORKS, "determined.experimental.client.get_models": WORKS,
    "determined.experimental.client.list_models": WORKS, "determined.experimental.client.Model": WORKS,
    "determined.experimental.client.get_model_labels": WORKS,
    "determined.experimental.client.ModelVersion": WORKS, "determined.experimental.client.ModelSortBy": WORKS,
    "determined.experimental.client.ModelOrderBy": WORKS,
    "determined.experimental.client.list_oauth_clients": WORKS,
    "determined.experimental.client.add_oauth_client": WORKS,
    "determined.experimental.client.remove_oauth_client": WORKS,
    "determined.experimental.Determined": WORKS, "determined.experimental.Checkpoint": WORKS,
    "determined.experimental.ExperimentReference": WORKS, "determined.experimental.TrialReference": WORKS,
    "determined.experimental.Session": WORKS, "determined.experimental.OrderBy": WORKS,
    "determined.experimental.ModelOrderBy": WORKS,
    "determined.experimental.checkpoint.Checkpoint": WORKS, "determined.experimental.metrics.TrialMetrics": WORKS,
    "determined.experimental.model.Model": WORKS, "determined.common.experimental.model.OrderBy": WORKS,
    # the Native API and what came after it
    "determined.experimental.create": WORKS, "determined.experimental.create_trial_instance": WORKS,
    "determined.experimental.test_one_batch": WORKS, "determined.experimental.Mode": WORKS,
    "determined.experimental.keras.init": WORKS, "determined.experimental.estimator.init": WORKS,
    "determined.keras.init": WORKS, "determined.estimator.init": "needs tensorflow",
    "determined.experimental.core_v2.init": WORKS, "determined.experimental.core_v2.init_context": WORKS,
    "determined.experimental.core_v2.Config": WORKS, "determined.experimental.core_v2.close": WORKS,
    "determined.experimental.core_v2.DefaultConfig": WORKS, "determined.experimental.core_v2.UnmanagedConfig": WORKS,
    "determined.experimental.unmanaged.init": WORKS,
    "determined.experimental.unmanaged.create_unmanaged_experiment": WORKS,
    "determined.experimental.inference.torch_batch_process": "needs torch",
    "determined.experimental.inference.TorchBatchProcessor": "needs torch",
    "determined.experimental.pytorch_lightning.LightningAdapter": "needs lightning",
    # custom search
    "determined.searcher.SearchMethod": WORKS, "determined.searcher.LocalSearchRunner": WORKS,
    "determined.searcher.RemoteSearchRunner": WORKS, "determined.searcher.Create": WORKS,
    "determined.searcher.ValidateAfter": WORKS, "determined.searcher.Close": WORKS,
    "determined.searcher.Shutdown": WORKS, "determined.searcher.Progress": WORKS,
    "determined.searcher.SearcherState": WORKS, "determined.searcher.ExitedReason": WORKS,
    "determined.searcher.Operation": WORKS,
    # launchers
    "determined.launch.torch_distributed": WORKS, "determined.launch.deepspeed": WORKS,
    "determined.launch.horovod": WORKS, "determined.launch.tensorflow": WORKS, "determined.launch.wrap_rank": WORKS,
    "determined.launcher.wrap_rank": WORKS, "determined.exec.harness": WORKS,
    # TensorBoard
    "determined.tensorboard.build": WORKS, "determined.tensorboard.TensorboardManager": WORKS,
    "determined.tensorboard.get_base_path": WORKS,
    "determined.tensorboard.metric_writers.pytorch.TorchWriter": WORKS,
    # frameworks
    **{f"determined.pytorch.{name}": "needs torch" for name in (
        "PyTorchTrial", "PyTorchTrialContext", "PyTorchExperimentalContext", "PyTorchCallback", "DataLoader",
        "LRScheduler", "MetricReducer", "Reducer", "TorchData", "Trainer", "init", "Batch", "Epoch", "TrainUnit",
        "data_length", "to_device", "reset_parameters", "ClipGradsL2Norm", "ClipGradsL2Value", "samplers",
        "adapt_batch_sampler", "CheckpointLoadContext", "load_trial_from_checkpoint_path", "PyTorchTrialController",
        "samplers.DistributedBatchSampler", "experimental.TorchBatchProcessor", "experimental.torch_batch_process",
        "dsat.get_ds_config_from_hparams", "dsat.get_hf_args_with_overwrites", "dsat.dsat_reporting_context")},
    "determined.pytorch.lightning.LightningAdapter": "needs lightning",
    "determined.lightning.experimental.DetLogger": "needs lightning",
    **{f"determined.pytorch.deepspeed.{name}": "needs deepspeed" for name in (
        "DeepSpeedTrial", "DeepSpeedTrialContext", "ModelParallelUnit", "make_deepspeed_mpu", "make_data_parallel_mpu",
        "overwrite_deepspeed_config", "init", "Trainer")},
    **{f"determined.keras.{name}": "needs tensorflow" for name in (
        "TFKerasTrial", "TFKerasTrialContext", "TFKerasNativeContext", "SequenceAdapter", "InputData", "ArrayLike",
        "InMemorySequence", "KerasDataAdapter", "KerasInputData", "TFKerasTensorBoard", "callbacks.Callback",
        "callbacks.EarlyStopping", "callbacks.ReduceLROnPlateau", "callbacks.TensorBoard",
        "load_model_from_checkpoint_path")},
    "determined.keras.DeterminedCallback": "needs keras", "determined.keras.TensorBoard": "needs keras",
    **{f"determined.estimator.{name}": "needs tensorflow" for name in (
        "EstimatorTrial", "EstimatorTrialContext", "EstimatorNativeContext", "RunHook", "MetricReducer",
        "ServingInputReceiverFn", "load_estimator_from_checkpoint_path")},
    "determined.transformers.DetCallback": "needs transformers",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_of_a_past_release_works_or_says_what_to_do(name: str) -> None:
    now = NAMES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # those that have moved say where
        try:
            _found(name)
        except (ImportError, NotImplementedError) as err:
            said = str(err)
        else:
            said = WORKS
    if now.startswith("needs "):
        assert said == WORKS or re.search(r"is not installed; .*run: pip install", said), said
    else:
        assert now in said
        assert "\n" not in said


def test_modules_of_the_sdk_package_are_loaded_when_they_are_used() -> None:
    code = (
        "import sys, determined, determined.experimental\n"
        "assert not any(name.startswith('determined.common') for name in sys.modules)\n"
        "from determined.experimental import checkpoint\n"
        "print(checkpoint.Checkpoint.__name__)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("Checkpoint\n", "")


def _found(name: str) -> Any:
    """The module or attribute, imported as `from package import name` imports it."""
    module: Any = None
    for length in range(name.count("."), 0, -1):
        prefix = ".".join(name.split(".")[:length])
        try:
            module = importlib.import_module(prefix)
        except ModuleNotFoundError as err:
            if err.name != prefix:
                raise
            continue
        break
    rest = name.split(".")[length:]
    found: Any = module
    for part in rest:
        if inspect.ismodule(found) and not hasattr(found, part):
            found = importlib.import_module(f"{found.__name__}.{part}")
        else:
            found = getattr(found, part)
    return found
