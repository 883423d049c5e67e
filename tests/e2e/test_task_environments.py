"""Packages of submitted tasks: `environment.python` of a command and of a notebook's kernel."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "contract"))
sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))


from served_program import shared_cache
from task_contract import run_cell
from task_site import TaskSite

from cluster import Cluster
from small_project import make_project

PYTHON = {"environment": {"python": {"requirements": "requirements.txt"}}, "resources": {"slots": 0}}


@pytest.fixture(scope="module")
def site(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> TaskSite:
    variables = [f"DET_ENVIRONMENT_CACHE={shared_cache(tmp_path_factory.getbasetemp())}"]
    task = {"environment": {"environment_variables": variables}}
    return TaskSite(cluster, tmp_path_factory.mktemp("site"), task=task)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """A context directory whose requirements name a package that lies in it, and is nowhere else."""
    project = make_project(tmp_path / "pkg", "only_here", code="WORD = 'from the requirements'")
    sources = {f"pkg/{path.name}": path.read_text() for path in project.iterdir()}
    return {"requirements.txt": "./pkg\n", **sources}


def test_a_command_imports_a_package_that_its_requirements_give(site: TaskSite, files: dict[str, str]) -> None:
    program = "import only_here; print(only_here.WORD, only_here.__file__)"
    task_id = site.launch("command", "python3", "-c", program, files=files, config=PYTHON)
    assert site.until_ended("command", task_id) == "allocation exited successfully", site.explain(task_id)
    assert "from the requirements" in site.lines(task_id)
    bare = site.launch("command", "python3", "-c", program, config={"resources": {"slots": 0}})
    assert "exited successfully" not in site.until_ended("command", bare)
    assert "No module named 'only_here'" in site.lines(bare)


def test_the_kernel_of_a_notebook_has_the_packages_that_its_requirements_give(
    site: TaskSite, files: dict[str, str]
) -> None:
    task_id = site.launch("notebook", files=files, config=PYTHON)
    site.until_ready("notebook", task_id, 600)
    started = site.fetch(task_id, "api/kernels", method="POST", body={"name": "python3"})
    assert started.status == 201, started.data
    kernel = json.loads(started.data)["id"]
    with site.open_socket(task_id, f"api/kernels/{kernel}/channels") as channel:
        assert run_cell(channel, "import only_here; print(only_here.WORD)") == "from the requirements\n"
    site.kill("notebook", task_id)
