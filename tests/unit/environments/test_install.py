"""From a lock to an environment: once for all who ask, whole or not there, shared by what is the same."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from determined.config.python_environment import PythonEnvironment
from determined.environments import cache, install, uv
from determined.environments.cache_directory import Place, place_of
from determined.errors import EnvironmentUnusable
from small_index import serving
from small_project import make_project
from small_wheel import make_wheel

LOCK = "alpha==1.0\nbeta==1.0\n"
WANTED = PythonEnvironment(lock="x.txt")


@pytest.fixture
def provide(place: Place, context: Path) -> Callable[..., install.Environment]:
    made: list[install.Environment] = []

    def run(lock: str = LOCK, wanted: PythonEnvironment = WANTED) -> install.Environment:
        made.append(install.provide(lock, wanted, context, place))
        return made[-1]

    yield run
    for one in made:
        one.hold.close()


def output(made: install.Environment, code: str) -> str:
    done = subprocess.run([made.interpreter.path, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_its_python_has_the_packages_and_no_others(provide: Callable[..., install.Environment]) -> None:
    made = provide()
    assert output(made, "import alpha, beta; print(alpha.VERSION, beta.VERSION)") == "1.0 1.0"
    assert (
        output(made, "import importlib.util as u; print(u.find_spec('numpy'), u.find_spec('determined'))")
        == "None None"
    )
    assert "determined" in made.interpreter.missing
    assert made.interpreter.venv


def test_eight_that_ask_at_once_get_one_environment(place: Place, context: Path, said: list[str]) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: install.provide(LOCK, WANTED, context, place), range(8)))
    for one in made:
        one.hold.close()
    assert len({one.interpreter.path for one in made}) == 1
    assert sum("building it; the next" in line for line in said) == 1
    assert all(one.interpreter == made[0].interpreter for one in made)


def test_the_second_needs_no_uv(provide: Callable[..., install.Environment], monkeypatch: pytest.MonkeyPatch) -> None:
    first = provide()
    monkeypatch.setattr(install, "find_uv", lambda place: pytest.fail("the environment is there"))
    assert provide().interpreter == first.interpreter


def test_other_packages_are_another_environment(provide: Callable[..., install.Environment]) -> None:
    alone = provide("beta==1.0\n")
    assert provide().key != alone.key
    assert output(alone, "import importlib.util as u; print(u.find_spec('alpha'))") == "None"


def test_what_a_killed_builder_left_is_built_again(
    provide: Callable[..., install.Environment], place: Place, context: Path
) -> None:
    key = install.key_of(LOCK, WANTED, context)
    ruin = place.environments / key / "lib"
    ruin.mkdir(parents=True)
    (ruin / "half").write_text("of an environment")
    assert output(provide(), "import alpha; print(alpha.VERSION)") == "1.0"
    assert not (ruin / "half").exists()


def test_an_environment_whose_python_is_gone_is_built_again(provide: Callable[..., install.Environment]) -> None:
    made = provide()
    made.hold.close()
    python = Path(made.interpreter.path)
    python.unlink()
    python.symlink_to("/nowhere/python3")
    again = provide()
    made.hold.descriptor = os.dup(0)  # closed again by the fixture
    assert output(again, "import alpha; print(alpha.VERSION)") == "1.0"


def test_a_failed_build_leaves_nothing_that_looks_ready(place: Place, context: Path) -> None:
    with pytest.raises(EnvironmentUnusable, match="alpha==9"):
        install.provide("alpha==9\n", WANTED, context, place)
    assert cache.list_cached(place) == []


def test_a_wheel_of_the_context_counts_by_its_content(
    provide: Callable[..., install.Environment], context: Path
) -> None:
    lock = "./own/gamma-1.0-py3-none-any.whl\n"
    make_wheel(context / "own", "gamma", code="WHICH = 'first'")
    first = provide(lock)
    make_wheel(context / "own", "gamma", code="WHICH = 'second'")
    second = provide(lock)
    assert output(first, "import gamma; print(gamma.WHICH)") == "first"
    assert output(second, "import gamma; print(gamma.WHICH)") == "second"


@pytest.mark.parametrize("lock", [".\n", "gamma @ ./\n"])
def test_the_context_as_a_package_counts_by_its_content(
    provide: Callable[..., install.Environment], context: Path, lock: str
) -> None:
    make_project(context, "gamma", code="WHICH = 'first'")
    first = provide(lock)
    make_project(context, "gamma", code="WHICH = 'second'")
    second = provide(lock)
    assert output(first, "import gamma; print(gamma.WHICH)") == "first"
    assert output(second, "import gamma; print(gamma.WHICH)") == "second"


def test_a_pylock_finds_packages_beside_it(
    provide: Callable[..., install.Environment], context: Path, place: Place
) -> None:
    make_wheel(context / "env" / "own", "delta")
    make_project(context / "env" / "pkg", "gamma", code="WHICH = 'first'")
    (context / "env" / "wanted.txt").write_text("./own/delta-1.0-py3-none-any.whl\n./pkg\n")
    words = ["compile", "--quiet", "--output-file", "pylock.toml", "wanted.txt"]
    uv.find_uv(place).pip(*words, doing="locking", cwd=context / "env")
    wanted = PythonEnvironment(lock="env/pylock.toml")
    lock = (context / "env" / "pylock.toml").read_text()
    first = provide(lock, wanted)
    assert output(first, "import delta, gamma; print(delta.VERSION, gamma.WHICH)") == "1.0 first"
    make_project(context / "env" / "pkg", "gamma", code="WHICH = 'second'")
    assert output(provide(lock, wanted), "import gamma; print(gamma.WHICH)") == "second"


def test_a_login_comes_from_the_file_it_was_written_in(
    make_place: Callable[..., Place], context: Path, tmp_path: Path, said: list[str]
) -> None:
    make_wheel(tmp_path / "private", "gamma")
    place = make_place(PIP_NO_INDEX="", UV_CACHE_DIR=str(tmp_path / "uv"))
    wanted = PythonEnvironment(requirements="requirements.txt")
    with serving(tmp_path / "private", "me:s3cret") as url:
        secret = url.replace("://", "://me:s3cret@")
        (context / "requirements.txt").write_text(f"--index-url {secret}\ngamma\n")
        made = install.provide(f"--index-url {url}\ngamma==1.0\n", wanted, context, place)
        made.hold.close()
        (context / "requirements.txt").write_text(f"--index-url {secret}\nother\n")
        with pytest.raises(EnvironmentUnusable) as failed:
            install.provide(f"--index-url {url}\nother==1.0\n", wanted, context, place)
    assert output(made, "import gamma; print(gamma.VERSION)") == "1.0"
    assert "s3cret" not in failed.value.message + "".join(said)


def test_a_package_that_does_not_build_fails_in_its_own_words_and_leaves_nothing(
    place: Place, context: Path, said: list[str]
) -> None:
    make_project(context / "pkg", "gamma", first="raise SystemExit('the compiler is missing')")
    with pytest.raises(EnvironmentUnusable, match="the compiler is missing"):
        install.provide("./pkg\n", WANTED, context, place)
    assert [path.name for path in place.environments.iterdir() if path.is_dir()] == []
    assert not any("hint" in line or "compiler" in line for line in said), "it is said once, by whoever ends the task"


def test_the_determined_of_another_is_passed_over(provide: Callable[..., install.Environment], wheels: Path) -> None:
    make_wheel(wheels, "determined", "0.38.1")
    assert "determined" in provide("determined==0.38.1\n").interpreter.missing


def test_hashes_are_checked(place: Place, context: Path) -> None:
    wrong = "beta==1.0 --hash=sha256:" + "0" * 64 + "\n"
    with pytest.raises(EnvironmentUnusable, match=r"[Hh]ash"):
        install.provide(wrong, WANTED, context, place)


def test_a_builder_holds_the_lock_as_long_as_its_uv_runs(place: Place, context: Path, tmp_path: Path) -> None:
    """Also when the builder itself is gone: nobody else may begin in a directory that is still written to."""
    slow = tmp_path / "slow-uv"
    slow.write_text("#!/bin/sh\necho $$ > started\nexec sleep 60\n")
    slow.chmod(0o700)
    hold = cache.Hold(tmp_path / "x.lock")
    assert hold.take()
    code = (
        "from pathlib import Path; from determined.environments.cache_directory import Place;"
        "from determined.environments.uv import Uv;"
        f"uv = Uv([{str(slow)!r}], Place(Path('.'), {{}}, print));"
        f"uv.run(doing='x', cwd=Path({str(context)!r}), held={hold.descriptor})"
    )
    builder = subprocess.Popen([sys.executable, "-c", code], pass_fds=[hold.descriptor], stderr=subprocess.DEVNULL)
    hold.close()
    try:
        pid = int(_eventually(lambda: (context / "started").exists() and (context / "started").read_text()))
        builder.kill()
        builder.wait()
        other = cache.Hold(tmp_path / "x.lock")
        assert not other.take()
        os.kill(pid, 9)
        assert _eventually(other.take)
        other.close()
    finally:
        builder.kill()
        builder.wait()


def test_its_record_says_what_it_is(provide: Callable[..., install.Environment], place: Place) -> None:
    made = provide()
    record = json.loads((place.environments / made.key / "determined.json").read_text())
    assert record["packages"] == 2
    assert record["python"].startswith("3.")
    assert record["size"] > 0


def test_pip_settings_reach_uv(context: Path, tmp_path: Path, wheels: Path) -> None:
    told: list[str] = []
    variables = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "h"), "PIP_FIND_LINKS": str(wheels)}
    place = place_of({**variables, "PIP_NO_INDEX": "true"}, told.append)
    found = uv.find_uv(place).pip("compile", "--quiet", "--no-header", text="alpha", doing="x", cwd=context)
    assert "alpha==1.0" in found


def _eventually(condition: Callable[[], object]) -> str:
    import time

    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return str(found)
        time.sleep(0.02)
    raise AssertionError("not within a minute")
