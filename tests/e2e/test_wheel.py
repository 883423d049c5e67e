"""The wheel that `make wheel` builds: in a bare environment, with its web page, and beside upstream's distribution."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cluster import ROOT, clean_environment
from determined.environments.interpreter import ask
from determined.master.routes.webui_files import web_file

UV = shutil.which("uv")
pytestmark = pytest.mark.skipif(UV is None, reason="needs uv, which builds and installs in seconds")

CONFIG = """
name: from-a-wheel
entrypoint: python3 train.py
searcher: {name: single, metric: x}
max_restarts: 0
"""
SCRIPT = """
from determined import core
with core.init() as context:
    context.train.report_validation_metrics(1, {"x": 1.0})
    print("TRAINED BY", core.__file__)
"""


def uv(*words: str) -> str:
    find_links = {"UV_FIND_LINKS": links} if (links := os.environ.get("PIP_FIND_LINKS")) else {}
    done = subprocess.run(
        [UV or "uv", *words], check=False, capture_output=True, text=True, cwd=ROOT, env={**find_links, **os.environ}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("dist")
    pins = ("--build-constraints", "requirements-build.txt", "--require-hashes")  # as scripts/build_wheel.sh
    uv("build", "--quiet", "--system-certs", *pins, "--out-dir", str(target))
    assert len(list(target.glob("redetermined-*.tar.gz"))) == 1
    return next(target.glob("redetermined-*.whl"))


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with nothing but the wheel and what it needs."""
    venv = tmp_path_factory.mktemp("bare") / "venv"
    uv("venv", "--quiet", str(venv))
    constraints = ("-c", str(ROOT / "constraints.txt"))
    uv("pip", "install", "--quiet", "--system-certs", "--python", str(venv / "bin/python"), *constraints, str(wheel))
    return venv


def run(venv: Path, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    variables = {**clean_environment(), "HOME": str(home), "VIRTUAL_ENV": str(venv)}
    variables["PATH"] = f"{venv}/bin:{variables['PATH']}"
    return subprocess.run(words, check=False, cwd=home, env=variables, capture_output=True, text=True)


def test_a_wheel_runs_an_experiment_in_a_bare_environment(bare: Path, home: Path) -> None:
    (home / "model").mkdir()
    (home / "model" / "train.py").write_text(SCRIPT)
    (home / "config.yaml").write_text(CONFIG)
    try:
        done = run(bare, home, "det", "e", "create", "config.yaml", "model", "-f")
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"TRAINED BY {bare}" in done.stdout
        listed = run(bare, home, "det", "e", "list", "--csv")
        assert "from-a-wheel" in listed.stdout and "COMPLETED" in listed.stdout
    finally:
        run(bare, home, "det", "master", "stop")


def test_a_wheel_has_the_package_that_scripts_of_the_first_releases_import(bare: Path, home: Path) -> None:
    done = run(bare, home, "python", "-c", "from determined_common.experimental import Determined")
    assert done.returncode == 0, done.stderr


def test_a_wheel_carries_the_web_page_when_it_is_built(bare: Path) -> None:
    if not (ROOT / "webui" / "dist" / "index.html").is_file():
        pytest.skip("the web page is not built here")
    [index] = bare.glob("lib/python3*/site-packages/determined/webui/index.html")
    scripts = re.findall(r'src="/det/(assets/[^"]+\.js)"', index.read_text())
    assert scripts
    for script in scripts:  # in the compressed form only
        served = web_file(index.parent, script, "")
        assert served is not None and served.content == (ROOT / "webui" / "dist" / script).read_bytes()
        assert not (index.parent / script).exists()


def test_a_wheel_carries_the_guide_when_it_is_built(bare: Path) -> None:
    if not (ROOT / "build" / "guide" / "index.html").is_file():
        pytest.skip("the documentation site is not built here")
    assert len(list(bare.glob("lib/python3*/site-packages/determined/guide/getting-started.html.gz"))) == 1


def test_upstreams_distribution_in_the_same_environment_is_named_with_the_way_out(
    bare: Path, wheel: Path, home: Path
) -> None:
    python = str(bare / "bin/python")
    uv("pip", "install", "--quiet", "--system-certs", "--no-deps", "--python", python, "determined==0.38.1")
    assert "determined" in ask(python)["missing"]  # upstream's files lie over ours
    uv("pip", "install", "--quiet", "--no-deps", "--reinstall", "--python", python, str(wheel))
    assert "determined" in ask(python)["missing"]  # ours lie over upstream's
    for words in (("det", "--version"), (python, "-c", "import determined")):
        said = run(bare, home, *words)
        assert said.returncode == 0
        assert "files of two packages" in said.stderr
        assert "pip uninstall -y determined redetermined" in said.stderr


def test_upstreams_package_that_hides_ours_is_named_by_det(home: Path) -> None:
    hiding = home / "site" / "determined"
    hiding.mkdir(parents=True)
    for name in ("__init__.py", "_execution.py"):
        (hiding / name).touch()
    variables = {**clean_environment(), "PYTHONPATH": f"{hiding.parent}:{ROOT / 'src'}"}
    command = ["python3", "-m", "redetermined", "--version"]
    done = subprocess.run(command, check=False, env=variables, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"{hiding} is upstream's package" in done.stderr
    assert "pip uninstall -y determined redetermined" in done.stderr
