"""The code that lies in a checkpoint: found where the script found it, kept for pickle, named when it is missing."""

import json
import pickle
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import torch

import determined as det
from determined import pytorch
from determined.errors import TrialNotImportable

HERE = Path(__file__).parent
pytestmark = pytest.mark.usefixtures("own_place")

MODEL_DEF = """
from small_trial import SmallTrial
import layers

class MyTrial(SmallTrial):
    def __init__(self, context):
        super().__init__(context)
        self.layers = layers.NAME
        self.head = layers.Head()
"""
LAYERS = """
import torch
NAME = {name!r}
class Head(torch.nn.Linear):
    def __init__(self):
        super().__init__(1, 1)
"""
SCRIPT = """
import sys
sys.path.append({tests!r})
from determined import pytorch
from small_trial import SmallTrial
import layers

class Scripted(SmallTrial):
    def __init__(self, context):
        super().__init__(context)
        self.layers = layers.NAME

if __name__ == "__main__":
    import model
    with pytorch.init(hparams={{}}) as context:
        trial = {trial}(context)
        pytorch.Trainer(trial, context).fit(max_length=pytorch.Batch(1), checkpoint_policy="none")
"""


def _checkpoint(directory: Path, name: str, spec: str = "model_def:MyTrial", **load_data: Any) -> str:
    """As an entrypoint leaves it, with nothing trained."""
    from small_trial import SmallTrial

    code = directory / name / "code"
    code.mkdir(parents=True)
    (code / "model_def.py").write_text(MODEL_DEF)
    (code / "layers.py").write_text(LAYERS.format(name=name))
    fields = {"trial_cls_spec": spec, "hparams": {}, "experiment_config": {}, **load_data}
    (code.parent / "load_data.json").write_text(json.dumps(fields))
    trial = SmallTrial(pytorch.CheckpointLoadContext(hparams={}))
    torch.save({"models_state_dict": [trial.model.state_dict()]}, code.parent / "state_dict.pth")
    return str(code.parent)


def test_a_trial_of_an_entrypoint_can_be_pickled(tmp_path: Path) -> None:
    trial: Any = pytorch.load_trial_from_checkpoint_path(_checkpoint(tmp_path, "one"))
    again = pickle.loads(pickle.dumps(trial))
    assert type(again) is type(trial) and type(again.head) is sys.modules["layers"].Head
    assert all(torch.equal(a, b) for a, b in zip(again.model.parameters(), trial.model.parameters(), strict=True))


def test_modules_that_are_there_already_are_neither_used_nor_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = types.ModuleType("layers")
    other.__file__ = str(tmp_path / "elsewhere" / "layers.py")
    monkeypatch.setitem(sys.modules, "layers", other)
    trial: Any = pytorch.load_trial_from_checkpoint_path(_checkpoint(tmp_path, "one"))
    assert trial.layers == "one"
    assert sys.modules["layers"] is other and sys.modules["model_def"] is sys.modules[type(trial).__module__]


def test_each_checkpoint_is_built_from_its_own_code(tmp_path: Path) -> None:
    trials: list[Any] = [
        pytorch.load_trial_from_checkpoint_path(_checkpoint(tmp_path, name)) for name in ("one", "two")
    ]
    assert [trial.layers for trial in trials] == ["one", "two"]
    assert sys.modules["layers"].NAME == "one"
    with det.import_from_path(tmp_path / "two" / "code"):
        import layers

        assert layers.NAME == "two"


def test_a_relative_path_is_loaded_from_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _checkpoint(tmp_path, "one")
    monkeypatch.chdir(tmp_path)
    trial: Any = pytorch.load_trial_from_checkpoint_path("one")
    assert trial.layers == "one" and type(trial).__module__ in sys.modules


@pytest.mark.parametrize("trial", ["Scripted", "model.Apart"])
def test_a_script_in_a_subdirectory_is_loaded_as_it_ran(off_cluster: Path, trial: str) -> None:
    jobs = Path("jobs", "mnist")
    jobs.mkdir(parents=True)
    (jobs / "train.py").write_text(SCRIPT.format(tests=str(HERE), trial=trial))
    (jobs / "layers.py").write_text("NAME = 'beside the script'")
    (jobs / "model.py").write_text("import layers\nfrom small_trial import SmallTrial\n" + _APART)
    subprocess.run([sys.executable, str(jobs / "train.py")], check=True, capture_output=True)
    (saved,) = off_cluster.iterdir()
    load_data = json.loads((saved / "load_data.json").read_text())
    assert load_data["script_directory"] == "jobs/mnist"
    _assert_loaded(saved, trial.rpartition(".")[2])

    del load_data["script_directory"]  # as earlier releases wrote it
    load_data["trial_cls_spec"] = load_data["trial_cls_spec"].replace("jobs.mnist.train:", "__main__:")
    (saved / "load_data.json").write_text(json.dumps(load_data))
    if trial == "Scripted":
        _assert_loaded(saved, trial)
        return
    with pytest.raises(TrialNotImportable, match=r"model:Apart cannot be imported.*'model'.*trial_class="):
        pytorch.load_trial_from_checkpoint_path(str(saved))


def _assert_loaded(saved: Path, name: str) -> None:
    loaded: Any = pytorch.load_trial_from_checkpoint_path(str(saved))
    assert (type(loaded).__name__, loaded.layers) == (name, "beside the script")
    assert not {"layers", "model", "jobs", "jobs.mnist", "jobs.mnist.train"} & sys.modules.keys()


_APART = """
class Apart(SmallTrial):
    def __init__(self, context):
        super().__init__(context)
        self.layers = layers.NAME
"""


@pytest.mark.parametrize(
    ("code", "missing"),
    [
        ("import no_such_library", "No module named 'no_such_library'"),
        ("from layers import Tail", "cannot import name 'Tail' from 'layers'"),
    ],
)
def test_what_the_code_does_not_find_is_named_with_a_way_out(tmp_path: Path, code: str, missing: str) -> None:
    path = _checkpoint(tmp_path, "one")
    (Path(path) / "code" / "model_def.py").write_text(code)
    with pytest.raises(TrialNotImportable, match=rf"model_def:MyTrial cannot be imported from .*{missing}") as refused:
        pytorch.load_trial_from_checkpoint_path(path)
    assert isinstance(refused.value, ImportError) and isinstance(refused.value.__cause__, ImportError)
    assert "install what is missing, or import the class yourself and pass trial_class=" in str(refused.value)
    assert "model_def" not in sys.modules
