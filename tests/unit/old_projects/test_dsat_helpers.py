"""`determined.pytorch.dsat`: what Hugging Face scripts import of it works, its search says that it is missing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from determined.pytorch import dsat

BASE = {"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": "auto", "zero_optimization": {"stage": 1}}
HPARAMS = {
    "deepspeed_config": "ds.json",
    "overwrite_deepspeed_args": {"train_micro_batch_size_per_gpu": 16, "zero_optimization": {"overlap_comm": True}},
}
MERGED = {**BASE, "train_micro_batch_size_per_gpu": 16, "zero_optimization": {"stage": 1, "overlap_comm": True}}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "ds.json").write_text(json.dumps(BASE))
    return tmp_path


def test_hyperparameters_change_the_config_they_name(directory: Path) -> None:
    assert dsat.get_ds_config_from_hparams(HPARAMS, directory) == MERGED
    assert dsat.get_ds_config_from_hparams({"deepspeed_config": "ds.json"}, base_dir=str(directory)) == BASE
    with pytest.raises(ValueError, match=r"hyperparameters\.deepspeed_config is missing"):
        dsat.get_ds_config_from_hparams({})


def test_a_scripts_arguments_agree_with_the_changed_config(directory: Path) -> None:
    given = ["--deepspeed", str(directory / "ds.json"), "--per_device_train_batch_size", "4", "--do_train"]
    args = dsat.get_hf_args_with_overwrites(given, HPARAMS)
    assert args[2:] == ["--per_device_train_batch_size", "16", "--do_train"]
    assert json.loads(Path(args[1]).read_text()) == MERGED
    assert json.loads((directory / "ds.json").read_text()) == BASE
    assert dsat.get_hf_args_with_overwrites(given, {"lr": 1}) == given
    with pytest.raises(ValueError, match="no --deepspeed FILE"):
        dsat.get_hf_args_with_overwrites(["--do_train"], HPARAMS)


def test_steps_run_in_the_reporting_context_and_their_errors_pass() -> None:
    with pytest.raises(KeyError), dsat.dsat_reporting_context(None, None, steps_completed=3):
        raise KeyError


@pytest.mark.parametrize("method", ["asha", "binary", "random"])
def test_the_search_is_refused_in_one_sentence(method: str) -> None:
    command = [sys.executable, "-m", "determined.pytorch.dsat", method, "ds.yaml", "."]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "is not implemented; search DeepSpeed's settings as hyperparameters" in done.stderr.strip().splitlines()[-1]


def test_classes_of_the_search_say_the_same() -> None:
    with pytest.raises(ImportError, match="not implemented"):
        from determined.pytorch.dsat import ASHADSATSearchMethod  # noqa: F401
