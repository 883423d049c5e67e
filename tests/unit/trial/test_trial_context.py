"""What every framework's context knows, and how it is made off cluster."""

import logging
from pathlib import Path
from typing import Any

import pytest

import determined as det
from determined import _info, core
from determined.trial import BatchSizes, EnvContext, ExperimentConfig, ScalarWriter, local_core_context

CONFIG: dict[str, Any] = {
    "hyperparameters": {
        "lr": {"type": "log", "base": 10, "minval": -4, "maxval": -2},
        "layers": {"type": "int", "minval": 1, "maxval": 3},
        "nested": {"dropout": {"type": "categorical", "vals": [0.1]}},
        "global_batch_size": 32,
    },
    "data": {"url": "here"},
}


def test_a_context_from_a_config_draws_hyperparameters_from_their_ranges() -> None:
    context = det.TrialContext.from_config(CONFIG)
    assert 1e-4 <= context.get_hparam("lr") <= 1e-2
    assert context.get_hparam("layers") in (1, 2, 3)
    assert context.get_hparams()["nested"] == {"dropout": 0.1}
    assert context.get_data_config() == {"url": "here"}
    assert (context.get_experiment_id(), context.get_trial_id(), context.get_initial_batch()) == (0, 0, 0)
    assert not context.env.managed_training
    assert context.distributed.size == 1


def test_the_configs_seed_is_the_trials_and_fixes_the_draw() -> None:
    config = CONFIG | {"reproducibility": {"experiment_seed": 11}}
    first, second = (det.TrialContext.from_config(config) for _ in range(2))
    assert first.get_hparams() == second.get_hparams()
    assert first.get_trial_seed() == 11


def test_a_config_without_data_has_an_empty_one() -> None:
    assert det.TrialContext.from_config({}).get_data_config() == {}
    assert det.TrialContext.from_config({"data": None}).get_data_config() == {}


def test_a_context_from_a_config_has_the_sections_that_the_config_leaves_out() -> None:
    config = det.TrialContext.from_config(CONFIG | {"resources": {"resource_pool": "gpu"}}).get_experiment_config()
    assert (config["resources"]["slots_per_trial"], config["resources"]["resource_pool"]) == (1, "gpu")
    assert config["optimizations"]["aggregation_frequency"] == 1
    assert config["scheduling_unit"] == 100
    assert config["data"] == {"url": "here"}


def test_an_unknown_hyperparameter_names_those_there_are() -> None:
    context = det.TrialContext.from_config({"hyperparameters": {"lr": 0.1}})
    with pytest.raises(ValueError, match=r"get_hparam\('rl'\).*\['lr'\].*add rl to the config's hyperparameters"):
        context.get_hparam("rl")


def test_the_global_batch_size_is_given_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert det.TrialContext.from_config(CONFIG).get_hparam("global_batch_size") == 32
    assert "get_per_slot_batch_size" in caplog.text


def test_a_stop_is_requested_and_withdrawn() -> None:
    context = det.TrialContext.from_config({})
    assert context.get_stop_requested() is False
    context.set_stop_requested(True)
    assert context.get_stop_requested() is True
    context.set_stop_requested(False)
    assert context.get_stop_requested() is False
    with pytest.raises(AssertionError, match=r"set_stop_requested\(1\): pass True or False"):
        context.set_stop_requested(1)  # type: ignore[arg-type]


def test_off_cluster_tensorboard_files_go_to_one_temporary_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    context = det.TrialContext.from_config({})
    path = context.get_tensorboard_path()
    assert path.is_dir()
    assert path.parent == tmp_path
    assert context.get_tensorboard_path() == path


def test_a_core_context_of_ones_own_reports_nothing_and_stores_on_demand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    alone = local_core_context()
    assert isinstance(alone.train, core.DummyTrainContext)
    assert list(tmp_path.iterdir()) == []
    with alone.checkpoint.store_path({"steps_completed": 1}) as (path, storage_id):
        (path / "file").write_text("kept")
    with alone.checkpoint.restore_path(storage_id) as found:
        assert (found / "file").read_text() == "kept"


def test_the_environment_of_a_trial_on_a_cluster() -> None:
    trial = _info.TrialInfo(
        trial_id=3, experiment_id=2, trial_seed=5, hparams={"lr": 1}, config={"debug": True},
        steps_completed=7, trial_run_id=4, debug=True,
    )  # fmt: skip
    info = _info.ClusterInfo(
        master_url="http://m/", cluster_id="c", agent_id="a", slot_ids=[1], task_id="t", allocation_id="t.1",
        session_token="s", task_type="TRIAL", latest_checkpoint="uuid", trial_info=trial,
        resources_info=_info.ResourcesInfo(["GPU-1"]),
    )  # fmt: skip
    env = EnvContext.from_info(info)
    assert (env.det_trial_id, env.det_experiment_id, env.trial_run_id) == ("3", "2", 4)
    assert (env.steps_completed, env.latest_checkpoint, env.trial_seed) == (7, "uuid", 5)
    assert (env.use_gpu, env.container_gpus, env.slot_ids) == (True, ["GPU-1"], [1])
    assert (env.on_cluster, env.managed_training, env.test_mode, env.debug) == (True, True, False, True)
    assert env.experiment_config.debug_enabled()


def test_a_trial_class_must_have_a_constructor() -> None:
    class Empty(det.Trial):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Empty(None)
    assert det.LegacyTrial is det.Trial
    assert det.Trial.trial_context_class is det.TrialContext


@pytest.mark.parametrize(("size", "slots", "expected"), [(8, 2, (4, 8)), (9, 2, (4, 8)), (3, 0, (3, 3))])
def test_a_batch_is_divided_among_slots(size: int, slots: int, expected: tuple[int, int]) -> None:
    sizes = BatchSizes.of(size, slots)
    assert (sizes.per_slot, sizes.over_all_slots) == expected


def test_a_batch_that_cannot_be_divided_is_named() -> None:
    with pytest.raises(det.errors.InvalidExperimentException, match=r"global_batch_size=3 is less than .* 4 slots"):
        BatchSizes.of(3, 4)
    with pytest.raises(det.errors.InvalidExperimentException, match="'many'; give it as an integer"):
        BatchSizes.of("many", 1)


def test_a_config_answers_with_defaults_where_it_says_nothing() -> None:
    config = ExperimentConfig()
    assert (config.scheduling_unit(), config.slots_per_trial(), config.debug_enabled()) == (100, 1, False)
    assert config.get_records_per_epoch() is None
    assert config.get_min_validation_period() == config.get_min_checkpoint_period() == {"batches": 0}
    assert (config.profiling_enabled(), config.profiling_interval(), config.profiling_sync_timings()) == (
        False,
        (0, None),
        True,
    )
    assert config.get_optimizations_config()["aggregation_frequency"] == 1
    assert config.average_training_metrics_enabled()
    assert not config.native_parallel_enabled()
    assert (config.experiment_seed(), config.get_checkpoint_storage(), config.get_entrypoint()) == (0, {}, None)
    with pytest.raises(ValueError, match=r"no searcher\.metric"):
        config.get_searcher_metric()


def test_a_config_answers_with_what_it_says() -> None:
    config = ExperimentConfig(
        {
            "entrypoint": "model_def:MyTrial",
            "scheduling_unit": 5,
            "records_per_epoch": 60,
            "min_validation_period": {"epochs": 1},
            "searcher": {"name": "single", "metric": "loss", "max_length": {"batches": 1}},
            "resources": {"slots_per_trial": 4},
            "optimizations": {"aggregation_frequency": 2},
            "reproducibility": {"experiment_seed": 9},
            "checkpoint_storage": {"type": "shared_fs", "host_path": "here"},
        }
    )
    assert (config.scheduling_unit(), config.get_records_per_epoch(), config.slots_per_trial()) == (5, 60, 4)
    assert config.get_min_validation_period() == {"epochs": 1}
    assert (config.get_searcher_metric(), config.get_entrypoint()) == ("loss", "model_def:MyTrial")
    assert config.get_optimizations_config()["aggregation_frequency"] == 2
    assert (config.experiment_seed(), config.get_checkpoint_storage()["host_path"]) == (9, "here")
    assert config["resources"] == {"slots_per_trial": 4}


def test_scalars_are_written_for_tensorboard_without_it(tmp_path: Path) -> None:
    writer = ScalarWriter(tmp_path / "events")
    writer.flush()
    assert not (tmp_path / "events").exists()
    writer.add_scalar("loss", 0.5, 1, walltime=1000.0)
    writer.add_scalars("lr", {"body": 1, "head": 2}, 2)
    writer.flush()
    (path,) = (tmp_path / "events").iterdir()
    assert all(tag in path.read_bytes() for tag in (b"loss", b"lr/body", b"lr/head"))
    writer.close()
    writer.add_scalar("later", 1)
    writer.close()
    assert len(list((tmp_path / "events").iterdir())) == 2
    with pytest.raises(AttributeError, match=r"add_histogram needs TensorBoard.*pip install tensorboard"):
        writer.add_histogram("x", [1])
