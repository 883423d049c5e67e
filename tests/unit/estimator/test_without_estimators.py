"""Importing determined.estimator where TensorFlow has no estimators, or where there is no TensorFlow."""

import importlib
import sys
from types import ModuleType

import pytest


def test_a_tensorflow_without_estimators_names_the_release_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    newer = ModuleType("tensorflow")
    newer.__version__ = "2.21.0"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tensorflow", newer)
    with pytest.raises(ImportError, match=r"TensorFlow 2\.21\.0 has no estimators.*'tensorflow==2\.15\.1'"):
        importlib.import_module("determined.estimator")


def test_no_tensorflow_names_extra_and_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    with pytest.raises(ImportError, match=r"pip install 'redetermined\[tensorflow\]' 'tensorflow==2\.15\.1'"):
        importlib.import_module("determined.estimator")
