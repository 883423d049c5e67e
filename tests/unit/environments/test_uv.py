"""Finding uv, its surroundings, and what its failures mean."""

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from determined.environments import uv
from determined.environments.place import Place
from determined.errors import EnvironmentUnusable, FailedPrecondition


def test_settings_of_pip_are_told_to_uv_under_its_names() -> None:
    given = {"PIP_FIND_LINKS": "/a /b", "PIP_INDEX_URL": "https://i", "PIP_CERT": "/ca.pem"}
    told = uv.translated(given)
    assert told["UV_FIND_LINKS"] == "/a,/b"
    assert (told["UV_INDEX_URL"], told["SSL_CERT_FILE"]) == ("https://i", "/ca.pem")


def test_certificates_of_the_system_count_where_there_are_any(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uv, "_SYSTEM_CERTS", (str(tmp_path / "ca.crt"),))
    assert "UV_SYSTEM_CERTS" not in uv.translated({})
    (tmp_path / "ca.crt").touch()
    assert uv.translated({})["UV_SYSTEM_CERTS"] == "true"
    assert uv.translated({"UV_SYSTEM_CERTS": "false"})["UV_SYSTEM_CERTS"] == "false"


def test_what_is_said_to_uv_itself_wins() -> None:
    given = {"PIP_INDEX_URL": "https://pip", "UV_DEFAULT_INDEX": "https://uv", "UV_SYSTEM_CERTS": "false"}
    told = uv.translated(given)
    assert "UV_INDEX_URL" not in told
    assert told["UV_SYSTEM_CERTS"] == "false"


@pytest.mark.parametrize(
    "words",
    [
        "error: Failed to fetch: https://pypi.org/simple/x/\n  cause: tcp connect error: Connection refused",
        "error: Failed to download x\n  cause: HTTP status server error (503 Service Unavailable)",
        "error: failed to write: No space left on device (os error 28)",
        "cause: dns error: failed to lookup address information",
    ],
)
def test_failures_that_may_pass_are_worth_another_try(words: str) -> None:
    assert isinstance(uv.failure(2, words, "installing"), FailedPrecondition)


@pytest.mark.parametrize(
    "words",
    [
        "error: No solution found when resolving dependencies\n  cause: there is no version of alpha==7",
        "error: Couldn't parse requirement in `-` at position 0",
        "error: Failed to fetch: https://x/y.whl\n  cause: HTTP status client error (404 Not Found)",
        "error: Hash mismatch for `alpha==1.0`",
    ],
)
def test_other_failures_are_final_and_keep_uvs_words(words: str) -> None:
    found = uv.failure(1, words, "resolving")
    assert isinstance(found, EnvironmentUnusable)
    assert words in found.message


def test_a_uv_that_was_killed_says_nothing_about_the_requirements() -> None:
    assert isinstance(uv.failure(-9, "", "resolving"), FailedPrecondition)


def test_a_missing_uv_names_how_to_install_it(
    make_place: Callable[..., Place], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uv, "find_spec", lambda name: None)
    with pytest.raises(EnvironmentUnusable, match="pip install uv"):
        uv.find_uv(make_place(PATH=str(tmp_path)))


def test_a_broken_uv_on_the_path_is_passed_over(
    make_place: Callable[..., Place], tmp_path: Path, context: Path
) -> None:
    shim = tmp_path / "bin" / "uv"
    shim.parent.mkdir()
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
    found = uv.find_uv(make_place(PATH=str(shim.parent)))
    assert found.run("--version", doing="asking", cwd=context).startswith("uv ")
