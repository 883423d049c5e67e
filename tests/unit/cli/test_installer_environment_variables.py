"""What installs packages off cluster sees this machine's settings, and those of the config last."""

import pytest

from determined.cli import environment


def test_variables_of_the_config_come_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_INDEX_URL", "https://here")
    monkeypatch.setenv("UV_FIND_LINKS", "/w")
    monkeypatch.setenv("VIRTUAL_ENV", "/v")
    assert environment.for_installer()["UV_INDEX_URL"] == "https://here"
    found = environment.for_installer(["UV_INDEX_URL=https://own/?a=b", "UV_FIND_LINKS"])
    assert found["UV_INDEX_URL"] == "https://own/?a=b"
    assert "UV_FIND_LINKS" not in found and "VIRTUAL_ENV" not in found


def test_virtual_environment_that_is_gone_is_still_named_to_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    monkeypatch.setenv("VIRTUAL_ENV", "/home/nobody/venv")
    assert environment.active_python() is None
    assert environment.submitters_python() == "/home/nobody/venv/bin/python"
