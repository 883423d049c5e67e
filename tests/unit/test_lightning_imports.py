"""Where Lightning is not installed, its users are told what to install."""

import importlib
import sys

import pytest


@pytest.fixture(autouse=True)
def _without_lightning(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("lightning", "pytorch_lightning"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in [
        name for name in sys.modules if name.startswith(("determined.lightning", "determined.pytorch.lightning"))
    ]:
        monkeypatch.delitem(sys.modules, name)


def test_the_adapter_names_the_extra_to_install() -> None:
    with pytest.raises(ImportError, match=r"pip install 'redetermined\[lightning\]'"):
        importlib.import_module("determined.pytorch.lightning")
    assert "determined.pytorch.lightning" not in sys.modules


def test_the_package_can_be_imported_and_its_names_tell_the_extra() -> None:
    package = importlib.import_module("determined.lightning")
    with pytest.raises(ImportError, match=r"pip install 'redetermined\[lightning\]'"):
        _ = package.DeterminedLogger
    with pytest.raises(AttributeError, match="has no attribute 'Unknown'"):
        _ = package.Unknown
