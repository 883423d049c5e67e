"""The official client, determined==0.38.1, with notebooks, shells and TensorBoards on our master: every sub-command."""

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from official_det import Det, launched

from cluster import (
    HANG_SECONDS,
    Client,
    Cluster,
    clean_environment,
    eventually,
    official_python,
    running_cluster,
    write_experiment,
)

pytestmark = pytest.mark.official

NO_SLOTS = ("--config", "resources.slots=0")
SCRIPT = """
import determined as det
with det.core.init() as core:
    core.train.report_validation_metrics(1, {"a": 1.0})
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A master that lets in shells of clients that send no login, which the official one's tunnel does not."""
    config = {"proxy": {"allow_unauthenticated_shells": True}}
    with running_cluster(tmp_path_factory.mktemp("cluster"), config=config) as running:
        yield running


def check_common_verbs(det: Det, noun: str, task_id: str) -> None:
    """Call the sub-commands that all three nouns have."""
    rows = [line.split("|") for line in det(noun, "list").stdout.splitlines() if task_id in line]
    assert [cell.strip() for cell in rows[0]][:2] == [task_id, "determined"]
    assert task_id in det(noun, "ls", "-q", "-a").stdout.split()
    assert "description:" in det(noun, "config", task_id).stdout
    assert f"Set priority of {noun} {task_id} to 40" in det(noun, "set", "priority", task_id, "40").stdout
    assert f"Killed {noun} {task_id}" in det(noun, "kill", task_id).stdout
    eventually(lambda: "TERMINATED" in det(noun, "list", "-a").stdout)
    det(noun, "kill", task_id)


def served_path(done: "subprocess.CompletedProcess[str]", said: str) -> str:
    """Return the path and query of the address that the client prints after `said`."""
    address = urlsplit(done.stdout.partition(said)[2].split()[0])
    return f"{address.path}?{address.query}" if address.query else address.path


def test_every_notebook_command(det: Det, client: Client) -> None:
    done = det("notebook", "start", "--no-browser", *NO_SLOTS)
    task_id = launched(done)
    assert re.search(r"Jupyter Notebook .*is running at", done.stdout)
    page = client.pool.request(
        "GET", client.url + served_path(done, "remote Jupyter server: "), headers=client.headers, redirect=False
    )
    assert page.status < 400, page.data
    lab = client.pool.request("GET", f"{client.url}/proxy/{task_id}/api/status", headers=client.headers)
    assert lab.status == 200 and b"kernels" in lab.data
    assert re.search(r"Jupyter Server .* is running", det("notebook", "logs", task_id).stdout)
    det("notebook", "open", task_id)
    assert "description:" in det("notebook", "start", "--preview").stdout
    detached = det("notebook", "start", "-d", *NO_SLOTS).stdout.strip()
    assert f"Killed notebook {detached}" in det("notebook", "kill", detached).stdout
    check_common_verbs(det, "notebook", task_id)


@pytest.mark.skipif(shutil.which("ssh") is None, reason="apt-get install openssh-client")
def test_every_shell_command(det: Det) -> None:
    done = det("shell", "start", *NO_SLOTS, stdin="COLUMNS=80 det --version\nexit\n")
    task_id = launched(done)
    assert "det 0." in done.stdout
    assert "You are logged in as user 'determined'" in det("shell", "open", task_id, "det", "user", "whoami").stdout
    for word in ("show-ssh-command", "show_ssh_command"):
        shown = det("shell", word, task_id).stdout
        assert "ssh -o" in shown and f"@{task_id}" in shown
    assert "Server listening on" in det("shell", "logs", task_id).stdout
    check_common_verbs(det, "shell", task_id)


@pytest.mark.skipif(shutil.which("ssh") is None, reason="apt-get install openssh-client")
def test_the_shown_ssh_command_of_a_new_shell_works_again(det: Det, client: Client, home: Path) -> None:
    done = det("shell", "start", "--show-ssh-command", *NO_SLOTS, stdin="echo first $((1 + 1))\nexit\n")
    task_id = launched(done)
    assert "first 2" in done.stdout, done.stdout + done.stderr
    [command] = [shlex.split(line) for line in done.stdout.splitlines() if line.startswith("ssh -o")]
    assert Path(command[command.index("-i") + 1]).stat().st_mode & 0o077 == 0, "the key that it names"
    again = subprocess.run(
        [*command, "echo second $((1 + 2))"], capture_output=True, text=True, timeout=HANG_SECONDS,
        check=False, stdin=subprocess.DEVNULL, env=clean_environment(HOME=str(home), DET_MASTER=client.url),
    )  # fmt: skip
    assert "second 3" in again.stdout, again.stdout + again.stderr
    det("shell", "kill", task_id)


def test_every_tensorboard_command(det: Det, client: Client, tmp_path: Path) -> None:
    experiment_id = client.submit(write_experiment(tmp_path, SCRIPT))
    client.wait_state(experiment_id, "COMPLETED")
    done = det("tensorboard", "start", str(experiment_id), "--no-browser")
    task_id = launched(done)
    assert "Tensorboard is running at" in done.stdout
    page = client.pool.request("GET", f"{client.url}/proxy/{task_id}/data/environment", headers=client.headers)
    assert page.status == 200 and b"version" in page.data
    assert re.search(r"TensorBoard .* at ", det("tensorboard", "logs", task_id).stdout)
    det("tensorboard", "open", task_id)
    check_common_verbs(det, "tensorboard", task_id)


def test_deleted_tensorboard_files_are_gone_when_the_command_returns(
    cluster: Cluster, det: Det, client: Client, tmp_path: Path
) -> None:
    experiment_id = client.submit(write_experiment(tmp_path, SCRIPT))
    client.wait_state(experiment_id, "COMPLETED")
    cluster_id = client.get("/api/v1/master")["clusterId"]
    files = cluster.directory / "checkpoints" / cluster_id / "tensorboard" / "experiment" / str(experiment_id)
    assert list(files.rglob("*tfevents*"))
    det("e", "delete-tb-files", str(experiment_id))
    assert not files.exists()
    det("e", "delete-tb-files", str(experiment_id))
    unknown = det("e", "delete-tb-files", "999999", check=False)
    assert (unknown.returncode, "not found" in unknown.stderr) == (1, True), unknown.stderr


def test_a_shell_is_refused_to_a_client_without_a_login_by_default(home: Path, tmp_path: Path) -> None:
    running, said = Cluster(tmp_path / "strict"), tmp_path / "said"
    running.start()
    words = [str(official_python().with_name("det")), "shell", "start", *NO_SLOTS, "--", "true"]
    with said.open("wb") as output:  # no pipe: its tunnel may outlive it and would hold one open
        client = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=clean_environment(HOME=str(home), DET_MASTER=running.url),
            start_new_session=True,
        )
    try:
        client.wait(HANG_SECONDS)
        assert "Connection closed" in said.read_text() and "Launched shell" in said.read_text()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(client.pid, signal.SIGKILL)
        running.stop()
        running.end_runners()
