"""Where a framework is not installed, the name that needs it says what to install, not which module was not found."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from determined._frameworks import frameworks
from determined.tensorboard.metric_writers.pytorch import TorchWriter

# Run as where only the base dependencies are: neither the frameworks nor what they bring can be imported.
PROGRAM = """
import importlib, json, sys

packages, missing = json.loads(sys.argv[1])
for module in missing:
    sys.modules[module] = None
said = {}
for room in packages:
    try:
        module = importlib.import_module(room)
    except ImportError as err:
        said[room] = str(err)
        continue
    for name in module.__all__:
        try:
            getattr(module, name)
            said[f"{room}.{name}"] = "loaded"
        except ImportError as err:
            said[f"{room}.{name}"] = str(err)
print(json.dumps(said))
"""

MODULES = sorted({"numpy", *(module for framework in frameworks() for module in framework.extras)})
INSTALL = {framework.package: framework.install.removeprefix("pip install '") for framework in frameworks()} | {
    # The trial class needs the last TensorFlow with estimators. These two import PyTorch before their own framework.
    "determined.estimator": "redetermined[tensorflow]' 'tensorflow==2.15.1'",
    "determined.pytorch.deepspeed": "redetermined[torch]'",
    "determined.pytorch.lightning": "redetermined[torch]'",
}
OTHERS = {
    "determined.keras.DeterminedCallback": "redetermined[keras]'",
    "determined.keras.TensorBoard": "redetermined[keras]'",
    "determined.keras.init": "loaded",  # it may only submit, which takes no framework
}


def test_every_name_of_a_missing_framework_tells_which_extra_to_install() -> None:
    asked = [sys.executable, "-c", PROGRAM, json.dumps([list(INSTALL), MODULES])]
    said: dict[str, str] = json.loads(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)
    assert len(said) > len(INSTALL), "names that are loaded lazily were asked for"
    assert said.pop("determined.keras.init") == "loaded", "submitting a script needs no framework"
    wrong = {name: text for name, text in said.items() if not text.endswith(_extra_of(name))}
    assert not wrong


def _extra_of(name: str) -> str:
    return OTHERS.get(name) or INSTALL.get(name) or INSTALL[name.rpartition(".")[0]]


def test_keras_without_its_backend_names_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "keras.py").write_text("import tensorflow")  # as Keras 3 does unless KERAS_BACKEND says otherwise
    program = "import sys; sys.path.insert(0, sys.argv[1]); sys.modules['tensorflow'] = None; "
    asked = [sys.executable, "-c", program + "from determined.keras import DeterminedCallback", str(tmp_path)]
    said = subprocess.run(asked, capture_output=True, text=True, check=False).stderr
    assert "ImportError: Keras is to compute by tensorflow, which is not installed; run: pip install" in said
    assert "KERAS_BACKEND" in said


def test_a_writer_over_torch_without_tensorboard_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ImportError, match=r"TorchWriter needs TensorBoard.*pip install tensorboard"):
        TorchWriter()
