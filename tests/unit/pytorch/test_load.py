"""load_trial_from_checkpoint_path: a trial with its weights, from checkpoints of both generations."""

import json
import pickle
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from made_context import made_context
from small_trial import SmallTrial, weights

from determined import pytorch
from determined.errors import CheckpointNotFound, UnsafeCheckpoint
from determined.pytorch._callback_set import CallbackSet
from determined.pytorch._checkpoint import Checkpoints
from determined.pytorch._state import TrialState

UPSTREAM = Path(__file__).parent / "upstream_checkpoints"
LAYOUTS = sorted(path.name for path in UPSTREAM.iterdir() if path.is_dir())

MODEL_DEF = """
from pathlib import Path
from small_trial import SmallTrial
import layers

class Outer:
    class MyTrial(SmallTrial):
        def __init__(self, context, note=None):
            super().__init__(context)
            self.note = note
            self.config = context.get_experiment_config()
            self.layers = layers.NAME
            self.text = Path("words.txt").read_text() if Path("words.txt").is_file() else None
"""


pytestmark = pytest.mark.usefixtures("own_place")


def _checkpoint(directory: Path, *, is_trainer: bool = True, callback: pytorch.PyTorchCallback | None = None) -> Path:
    """Of a trial whose code is told apart from the one that is imported here."""
    context = made_context(directory)
    trial = SmallTrial(context)
    torch.nn.init.normal_(trial.model[0].weight)
    callbacks = CallbackSet({"mine": callback} if callback else {})
    checkpoints = Checkpoints(trial, context, callbacks, is_trainer=is_trainer)
    path = directory / "checkpoints" / checkpoints.save(TrialState(1, batches_trained=3), None)
    _say(path, trial_cls_spec="model_def:Outer.MyTrial")
    (path / "code" / "model_def.py").write_text(MODEL_DEF)
    (path / "code" / "layers.py").write_text("NAME = 'stored'")
    (path / "code" / "words.txt").write_text("from the checkpoint")
    directory.joinpath("weights").write_bytes(pickle.dumps(weights(trial)))
    return path


def _say(path: Path, **fields: Any) -> None:
    data = json.loads((path / "load_data.json").read_text())
    (path / "load_data.json").write_text(json.dumps({**data, **fields}))


def _trained(directory: Path) -> list[torch.Tensor]:
    found: list[torch.Tensor] = pickle.loads((directory / "weights").read_bytes())
    return found


def _same(first: list[torch.Tensor], second: list[torch.Tensor]) -> bool:
    return all(torch.equal(one, other) for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_checkpoints_of_earlier_releases_become_trials(layout: str) -> None:
    trial: Any = pytorch.load_trial_from_checkpoint_path(str(UPSTREAM / layout))
    saved = torch.load(UPSTREAM / "trainer" / "state_dict.pth", weights_only=False)["models_state_dict"][0]
    assert type(trial).__name__ == "TinyTrial"
    assert trial.model.state_dict().keys() == saved.keys()
    assert all(torch.equal(value, saved[name]) for name, value in trial.model.state_dict().items())
    assert trial.context.get_hparams() == {"lr": 0.01}
    assert trial.context.get_data_config() == {"classes": 2}
    trial.model.eval()
    assert trial.evaluate_batch((torch.rand(2, 4), torch.tensor([0, 1])))["validation_loss"].isfinite()


@pytest.mark.parametrize("is_trainer", [True, False], ids=["script", "entrypoint"])
def test_a_trial_is_built_from_the_stored_code(tmp_path: Path, is_trainer: bool) -> None:
    Path("layers.py").write_text("NAME = 'edited since'")
    trial: Any = pytorch.load_trial_from_checkpoint_path(
        str(_checkpoint(tmp_path, is_trainer=is_trainer)), trial_kwargs={"note": "mine"}
    )
    assert _same(weights(trial), _trained(tmp_path))
    assert trial.layers == "stored" and trial.note == "mine" and trial.config == {"data": {"url": "here"}}
    assert trial.text == (None if is_trainer else "from the checkpoint")
    assert ("model_def" in sys.modules, "layers" in sys.modules) == (not is_trainer, not is_trainer)
    assert Path.cwd() == tmp_path / "work"


def test_a_class_given_by_hand_needs_no_code(tmp_path: Path) -> None:
    path = _checkpoint(tmp_path)
    shutil.rmtree(path / "code")
    trial = pytorch.load_trial_from_checkpoint_path(str(path), trial_class=SmallTrial)
    assert type(trial) is SmallTrial and _same(weights(trial), _trained(tmp_path))
    with pytest.raises(ValueError, match="pass trial_class="):
        pytorch.load_trial_from_checkpoint_path(str(path))


def test_models_are_bare_and_on_the_cpu(tmp_path: Path) -> None:
    trial: Any = pytorch.load_trial_from_checkpoint_path(str(_checkpoint(tmp_path)))
    assert type(trial.model) is torch.nn.Sequential
    assert trial.context.device == torch.device("cpu")


def test_a_context_for_loading_answers_what_it_was_given() -> None:
    context = pytorch.CheckpointLoadContext(hparams={"lr": 3}, exp_conf={"data": {"a": 1}})
    assert context.get_hparam("lr") == 3 and context.get_data_config() == {"a": 1}
    with pytest.raises(ValueError, match="hparams"):
        pytorch.CheckpointLoadContext().get_hparams()


@pytest.mark.parametrize(
    ("config", "seed"), [(None, 0), ({"reproducibility": None}, 0), ({"reproducibility": {"experiment_seed": 12}}, 12)]
)
def test_a_context_for_loading_has_the_seed_of_the_experiment(config: Any, seed: int) -> None:
    assert pytorch.CheckpointLoadContext(exp_conf=config).get_trial_seed() == seed


def test_the_older_spelling_of_torchs_arguments_is_heard(tmp_path: Path) -> None:
    path = str(_checkpoint(tmp_path))
    with pytest.warns(FutureWarning, match="torch_load_kwargs"):
        pytorch.load_trial_from_checkpoint_path(path, map_location="cpu")
    with pytest.raises(ValueError, match="both torch_load_kwargs and"):
        pytorch.load_trial_from_checkpoint_path(path, torch_load_kwargs={}, map_location="cpu")


class Opinion:
    """A class of the user's."""


class Opinionated(pytorch.PyTorchCallback):
    def state_dict(self) -> dict[str, Any]:
        return {"opinion": Opinion()}


def test_classes_in_a_checkpoint_are_loaded_only_on_demand(tmp_path: Path) -> None:
    path = str(_checkpoint(tmp_path, callback=Opinionated()))
    with pytest.raises(UnsafeCheckpoint, match=r"test_load\.Opinion.*weights_only"):
        pytorch.load_trial_from_checkpoint_path(path)
    trial: Any = pytorch.load_trial_from_checkpoint_path(path, torch_load_kwargs={"weights_only": False})
    assert _same(weights(trial), _trained(tmp_path))


def test_a_directory_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"neither load_data\.json nor metadata\.json"):
        pytorch.load_trial_from_checkpoint_path(str(tmp_path))
    path = _checkpoint(tmp_path)
    (path / "state_dict.pth").unlink()
    with pytest.raises(CheckpointNotFound, match="no checkpoint of a PyTorchTrial"):
        pytorch.load_trial_from_checkpoint_path(str(path))


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (None, "names no trial class"),
        ("model_def:Missing", "is no PyTorchTrial"),
        ("layers:NAME", "is no PyTorchTrial"),
        ("__main__:Missing", "0 files of"),
    ],
)
def test_a_class_that_cannot_be_found_is_asked_for(tmp_path: Path, spec: str | None, words: str) -> None:
    path = _checkpoint(tmp_path)
    _say(path, trial_cls_spec=spec)
    with pytest.raises(ValueError, match=rf"{words}.*trial_class="):
        pytorch.load_trial_from_checkpoint_path(str(path))


def test_another_number_of_models_is_refused(tmp_path: Path) -> None:
    class Two(SmallTrial):
        def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
            super().__init__(context)
            context.wrap_model(torch.nn.Linear(1, 1))

    with pytest.raises(RuntimeError, match=r"1 model\(s\), and the trial wraps 2"):
        pytorch.load_trial_from_checkpoint_path(str(_checkpoint(tmp_path)), trial_class=Two)
