"""`environment.python` by the real det, runner and uv, over wheels made on the spot."""

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from cluster import Client, Cluster, det, eventually, lives, write_experiment
from small_project import make_project
from small_wheel import make_wheel

SCRIPT = """
import sys
import alpha
import determined as det

print("PREFIX", sys.prefix, "alpha", alpha.VERSION)
with det.core.init() as core_context:
    core_context.train.report_validation_metrics(1, {"x": 1.0})
"""


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A cache of our own and two releases of `alpha`; no index is asked."""
    directory = tmp_path_factory.mktemp("environments")
    for version in ("1.0", "2.0"):
        make_wheel(directory / "wheels", "alpha", version)
    given = {
        "XDG_CACHE_HOME": str(directory / "cache"),
        "PIP_FIND_LINKS": str(directory / "wheels"),
        "PIP_NO_INDEX": "1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name in ("UV_FIND_LINKS", "UV_INDEX_URL", "UV_DEFAULT_INDEX"):
            patch.delenv(name, raising=False)
        for name, value in given.items():
            patch.setenv(name, value)
        yield given


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, surroundings: dict[str, str]) -> Iterator[Cluster]:
    running = Cluster(tmp_path_factory.mktemp("cluster"), slots=4)
    running.start()
    yield running
    running.stop()
    running.end_runners()


def experiment(directory: Path, requirements: str, script: str = SCRIPT, **config: Any) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "requirements.txt").write_text(requirements)
    environment = {"python": {"requirements": "requirements.txt"}}
    return write_experiment(directory, script, {"environment": environment, "max_restarts": 5, **config})


def submitted(home: Path, cluster: Cluster, config: Path) -> int:
    done = det(home, "e", "create", str(config), str(config.parent), master=cluster.url)
    return int(done.stdout.split("Created experiment ")[1].split()[0])


def prefixes(client: Client, experiment_id: int) -> dict[str, str]:
    """alpha's version by the environment it was found in, over all trials."""
    lines = [line for trial in client.trials(experiment_id) for line in client.log_lines(trial["id"])]
    found = [line.split() for line in lines if "PREFIX" in line]
    return {words[-3]: words[-1] for words in found}


def test_two_experiments_have_two_releases_and_their_trials_share_one_environment_each(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    search = {"searcher": {"name": "random", "metric": "x", "max_trials": 4, "max_length": {"batches": 1}}}
    old = submitted(home, cluster, experiment(tmp_path / "old", "alpha<2\n", **search))
    new = submitted(home, cluster, experiment(tmp_path / "new", "alpha\n"))
    for one in (old, new):
        assert client.wait_state(one, "COMPLETED", "ERROR") == "COMPLETED"
    assert list(prefixes(client, old).values()) == ["1.0"]
    assert list(prefixes(client, new).values()) == ["2.0"]
    lines = [line for trial in client.trials(old) for line in client.log_lines(trial["id"])]
    assert sum("building it; the next" in line for line in lines) == 1
    assert len(client.trials(old)) == 4


def test_a_reproduction_has_the_packages_of_the_first_run(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path, surroundings: dict[str, str]
) -> None:
    wheels = Path(surroundings["PIP_FIND_LINKS"])
    make_wheel(wheels, "delta", "1.0")
    script = SCRIPT.replace("alpha", "delta")
    first = submitted(home, cluster, experiment(tmp_path / "first", "delta\n", script))
    assert client.wait_state(first, "COMPLETED", "ERROR") == "COMPLETED"
    make_wheel(wheels, "delta", "2.0")
    done = det(home, "e", "reproduce", str(first), "-f", master=cluster.url)
    assert "delta 1.0" in done.stdout
    fresh = submitted(home, cluster, experiment(tmp_path / "fresh", "delta\n", script))
    assert client.wait_state(fresh, "COMPLETED", "ERROR") == "COMPLETED"
    assert list(prefixes(client, fresh).values()) == ["2.0"]
    assert "delta==1.0" in det(home, "e", "lock", str(first), master=cluster.url).stdout


def test_requirements_that_cannot_be_met_end_the_experiment_at_once_in_the_resolvers_words(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    one = submitted(home, cluster, experiment(tmp_path / "bad", "alpha==7\n"))
    assert client.wait_state(one, "COMPLETED", "ERROR") == "ERROR"
    words = "there is no version of alpha==7"
    [trial] = client.trials(one)
    assert trial["restarts"] == 0
    assert any(words in line for line in client.log_lines(trial["id"]))
    waited = det(home, "e", "wait", str(one), master=cluster.url, check=False)
    assert waited.returncode == 1 and words in waited.stderr
    assert words in det(home, "e", "describe", str(one), master=cluster.url).stdout


def test_a_package_that_does_not_build_ends_the_experiment_in_its_own_words(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    words = "the compiler is missing"
    make_project(tmp_path / "m" / "pkg", "gamma", first=f"raise SystemExit({words!r})")
    one = submitted(home, cluster, experiment(tmp_path / "m", "./pkg\n"))
    assert client.wait_state(one, "COMPLETED", "ERROR") == "ERROR"
    [trial] = client.trials(one)
    assert trial["restarts"] == 0
    assert sum(words in line for line in client.log_lines(trial["id"])) == 1
    assert words in det(home, "e", "describe", str(one), master=cluster.url).stdout


@pytest.mark.parametrize("ended", ["by the kernel", "by its owner"])
def test_a_task_that_ends_while_it_builds_leaves_the_build_to_another(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path, ended: str
) -> None:
    mark = tmp_path / "building"
    wait_once = (
        f"mark = {str(mark)!r};"
        "os.path.exists(mark) or (open(mark, 'w').write(str(os.getpid())), os.read(os.pipe()[0], 1))"
    )
    make_project(tmp_path / "m" / "pkg", "alpha", code=f"VERSION = {ended!r}", first=wait_once)
    config = experiment(tmp_path / "m", "./pkg\n")
    first = submitted(home, cluster, config)
    builder = psutil.Process(int(eventually(lambda: mark.exists() and mark.read_text())))
    second = submitted(home, cluster, config)
    if ended == "by the kernel":
        next(process for process in builder.parents() if "determined.exec.runner" in process.cmdline()).kill()
    else:
        det(home, "e", "kill", str(first), master=cluster.url)
    assert client.wait_state(second, "COMPLETED", "ERROR") == "COMPLETED"
    eventually(lambda: not lives(builder.pid), explain=lambda: "what built for a task that has ended goes with it")


def test_a_file_that_is_not_sent_is_refused_before_anything_runs(cluster: Cluster, home: Path, tmp_path: Path) -> None:
    config = experiment(tmp_path / "m", "alpha\n")
    (tmp_path / "m" / ".detignore").write_text("requirements.txt\n")
    done = det(home, "e", "create", str(config), str(tmp_path / "m"), master=cluster.url, check=False)
    assert done.returncode == 1
    assert "no file `requirements.txt`" in done.stderr and ".detignore" in done.stderr


def test_off_cluster_the_same_environment_is_used_and_shown_and_cleaned(home: Path, tmp_path: Path) -> None:
    config = experiment(tmp_path / "m", "alpha==1.0\n")
    done = det(home, "e", "create", str(config), str(tmp_path / "m"), "--local")
    assert "alpha 1.0" in done.stdout
    listed = det(home, "environment", "list", "--json").stdout
    assert '"packages": 1' in listed
    assert "Removed" in det(home, "environment", "clean").stdout
    assert det(home, "environment", "list", "--json").stdout.strip() == "[]"


def test_a_notebook_without_jupyterlab_and_without_an_index_ends_and_says_what_is_missing(
    cluster: Cluster, client: Client, home: Path
) -> None:
    if find_spec("jupyterlab") is not None:
        pytest.skip("the Python of these tests has JupyterLab")
    done = det(home, "notebook", "start", "--config", "resources.slots=0", master=cluster.url, check=False)
    assert done.returncode == 1
    assert "Waiting stopped: task has been terminated." in done.stdout + done.stderr
    task_id = done.stdout.partition("(id: ")[2].partition(",")[0]
    notebook = client.get(f"/api/v1/notebooks/{task_id}")["notebook"]
    assert (notebook["state"], "exit code 1" in notebook["exitStatus"]) == ("STATE_TERMINATED", True), notebook
    log = det(home, "notebook", "logs", task_id, master=cluster.url).stdout
    assert "JupyterLab is not in the Python of this task and cannot be installed on this node: " in log
    assert "Give the node a package index (UV_INDEX_URL, PIP_INDEX_URL), or install redetermined[notebook]" in log
    assert "Traceback" not in log
