"""`determined.transformers` where there is no transformers."""

import importlib
import sys

import pytest


def test_the_import_says_which_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    for name in [name for name in sys.modules if name.startswith("determined.transformers")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match=r"pip install 'redetermined\[transformers\]'"):
        importlib.import_module("determined.transformers")
