"""Finding uv, its surroundings, and what its failures mean."""

import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, local

import pytest

from determined.environments import uv
from determined.environments.cache_directory import Place
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
        "error: Request failed after 3 retries\n  cause: HTTP status client error (429 Too Many Requests)",
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


@pytest.mark.parametrize(
    ("printed", "told", "message"),
    [
        (
            "Resolved 1 package\nerror: No solution\nhint: look",
            ["uv: Resolved 1 package"],
            "error: No solution\nhint: look",
        ),
        (
            "warning: odd\n  \u00d7 No solution\n  ╰─▶ Because",
            ["uv: warning: odd"],
            "\u00d7 No solution\n  ╰─▶ Because",
        ),
        ("a panic", ["uv: a panic"], "a panic"),
        ("error: Failed at https://me:s3cret@h/x", [], "error: Failed at https://****@h/x"),
    ],
)
def test_an_error_is_kept_for_whoever_ends_the_task_and_the_rest_is_said_at_once(
    place: Place, context: Path, said: list[str], printed: str, told: list[str], message: str
) -> None:
    program = context / "uv"
    program.write_text(f"#!/bin/sh\ncat >&2 <<'EOF'\n{printed}\nEOF\nexit 1\n")
    program.chmod(0o700)
    with pytest.raises(EnvironmentUnusable) as failed:
        uv.Uv([str(program)], place).run(doing="resolving", cwd=context)
    assert failed.value.message == f"resolving failed; uv says:\n{message}"
    assert said == told


def test_a_build_that_talks_without_end_is_kept_by_its_ends(place: Place, context: Path) -> None:
    program = context / "uv"
    program.write_text(
        "#!/bin/sh\nexec >&2\necho error: build failed\nseq 1 20000\n"
        "head -c 100000 /dev/zero | tr '\\0' x\necho\necho no compiler\nexit 1\n"
    )
    program.chmod(0o700)
    with pytest.raises(EnvironmentUnusable) as failed:
        uv.Uv([str(program)], place).run(doing="resolving", cwd=context)
    lines = failed.value.message.splitlines()
    assert lines[:3] == ["resolving failed; uv says:", "error: build failed", "1"]
    assert "... 19803 lines left out ..." in lines
    assert lines[-3] == "20000" and lines[-2] == "x" * 2000 and lines[-1] == "no compiler"
    assert len(lines) == 202


def test_an_index_that_does_not_answer_is_named(make_place: Callable[..., Place], context: Path) -> None:
    program = context / "uv"
    program.write_text("#!/bin/sh\necho 'error: Request failed after 3 retries in 7.1s' >&2\nexit 2\n")
    program.chmod(0o700)
    place = make_place(PIP_INDEX_URL="https://me:s3cret@packages.example/simple")
    with pytest.raises(FailedPrecondition, match=r"whose index is https://\*+@packages\.example/simple"):
        uv.Uv([str(program)], place).run(doing="resolving", cwd=context)


def test_a_wrong_hash_is_named_at_the_end() -> None:
    words = "error: Failed to download `six`\n  cause: Hash mismatch for `six==1.16.0`\n\n  Computed:\n sha256:8a\n"
    last = uv.failure(1, words, "installing").message.splitlines()[-1]
    assert last == "Hash mismatch for `six==1.16.0`: make the lock anew, or correct it"


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


def test_tasks_that_lack_uv_have_it_installed_once(
    make_place: Callable[..., Place], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed: list[Path] = []
    together, mine, works = Barrier(4), local(), uv._works

    def looked_for_together(command: list[str], place: Place) -> bool:
        found = works(command, place)
        if not hasattr(mine, "looked"):
            mine.looked = True
            together.wait(60)
        return found

    def install(place: Place) -> None:
        program = place.root / "uv" / "bin" / "uv"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o700)
        installed.append(program)

    monkeypatch.setattr(uv, "find_spec", lambda name: None if name == "uv" else True)
    monkeypatch.setattr(uv, "_install", install)
    monkeypatch.setattr(uv, "_works", looked_for_together)
    monkeypatch.setattr(uv, "_found", {})
    place = make_place(PATH=str(tmp_path))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: uv.find_uv(place), range(4)))
    assert len(installed) == 1
