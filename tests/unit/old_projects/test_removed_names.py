"""Errors of old scripts: what is really missing, since when, and what to write or pin."""

import importlib
import sys
from pathlib import Path

import pytest

from determined._imports import load_optional
from determined._removed_names import _ROWS, removed_name
from determined.exec.harness import load_class

ERRORS = {
    "ModuleNotFoundError: No module named 'tensorflow.python.keras.datasets'": "tensorflow.keras.datasets",
    "ModuleNotFoundError: No module named 'tensorflow.python.keras'": "tensorflow==2.15.1",
    "ModuleNotFoundError: No module named 'tensorflow.contrib'": "TensorFlow 2.0",
    "AttributeError: module 'tensorflow' has no attribute 'contrib'": "TensorFlow 2.0",
    "AttributeError: module 'tensorflow' has no attribute 'placeholder'": "tensorflow.compat.v1.placeholder",
    "AttributeError: module 'tensorflow' has no attribute 'estimator'": "tensorflow==2.15.1",
    "ModuleNotFoundError: No module named 'pytorch_lightning.metrics'": "torchmetrics",
    "ImportError: cannot import name 'DDPPlugin' from 'pytorch_lightning.plugins' (/x/__init__.py)": "Lightning 1.8",
    "TypeError: Trainer.__init__() got an unexpected keyword argument 'gpus'": "pytorch-lightning==1.9.5",
    "ModuleNotFoundError: No module named 'torch._six'": "torch==1.13.1",
    "ImportError: cannot import name 'AdamW' from 'transformers' (/x/transformers/__init__.py)": "transformers==4.49.0",
    "TypeError: TrainingArguments.__init__() got an unexpected keyword argument 'evaluation_strategy'": "eval_strategy",
    "ModuleNotFoundError: No module named 'transformers.modeling_bert'": "transformers.models.bert.modeling_bert",
    "ImportError: cannot import name 'load_metric' from 'datasets' (/x)": "evaluate.load",
    "AttributeError: module 'numpy' has no attribute 'bool'.": "numpy==1.23.5",
    "AttributeError: module 'numpy' has no attribute 'float'": "Python's own float",
    "AttributeError: module 'numpy' has no attribute 'Inf'": "numpy==1.26.4",
    "AttributeError: 'DataFrame' object has no attribute 'append'": "pandas==1.5.3",
    "AttributeError: module 'PIL.Image' has no attribute 'ANTIALIAS'": "pillow==9.5.0",
    "ImportError: cannot import name 'Mapping' from 'collections' (/usr/lib)": "collections.abc.Mapping",
    "AttributeError: module 'collections' has no attribute 'Mapping'": "collections.abc.Mapping",
    "ModuleNotFoundError: No module named 'distutils'": "Python 3.12",
    "ModuleNotFoundError: No module named 'sklearn.externals.joblib'": "joblib",
}


@pytest.mark.parametrize("error", ERRORS)
def test_a_known_removal_is_named_with_a_way(error: str) -> None:
    found = removed_name(error)
    assert found is not None and ERRORS[error] in found.describe()
    assert "{" not in found.describe()


@pytest.mark.parametrize(
    "error",
    [
        "ModuleNotFoundError: No module named 'tensorflow'",
        "ModuleNotFoundError: No module named 'my_metrics'",
        "AttributeError: module 'numpy' has no attribute 'boolean'",
        "AttributeError: 'MyModel' object has no attribute 'append'",
        "ValueError: torch._six",
        "ImportError: cannot import name 'layers' from 'tensorflow.keras' (/x)",
        "AttributeError: module 'numpy.random' has no attribute 'int'",
        "",
    ],
)
def test_other_errors_get_no_remark(error: str) -> None:
    assert removed_name(error) is None


def test_every_row_names_a_release_and_another_way() -> None:
    for _, row in _ROWS:
        assert row.since[-1].isdigit() or row.since.endswith(")"), row
        assert row.instead and row.name


def _package(directory: Path, name: str) -> None:
    (directory / name).mkdir()
    (directory / name / "__init__.py").write_text("__version__ = '9.1'\n")


def test_a_framework_that_lacks_a_module_is_not_called_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _package(tmp_path, "framework_of_tests")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ImportError, match=r"framework_of_tests 9\.1 is installed and has no module metrics") as raised:
        load_optional("framework_of_tests.metrics", extra="tensorflow")
    assert "pip install" not in str(raised.value)
    with pytest.raises(ImportError, match=r"other_framework_of_tests.metrics is not installed; run: pip install"):
        load_optional("other_framework_of_tests.metrics", extra="tensorflow")


def test_a_trial_that_imports_a_removed_module_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _package(tmp_path, "pytorch_lightning")
    (tmp_path / "old_model_def.py").write_text("import pytorch_lightning.metrics\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "pytorch_lightning", raising=False)
    importlib.invalidate_caches()
    said = load_class("old_model_def:MyTrial")
    sys.modules.pop("pytorch_lightning", None)
    assert "pytorch_lightning.metrics is gone since Lightning 1.5; write torchmetrics" in said
    assert "redetermined[" not in said
