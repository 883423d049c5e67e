"""Ports of a running trial through the master: HTTP, tunnels of our client and the official one, and restarts."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from served import SERVING, Serving, echoes, serving

from cluster import Client, Cluster, clean_environment, det, eventually, free_port, official_python, write_experiment

CREDENTIALS = {"DET_USER": "determined", "DET_PASS": ""}


@pytest.fixture(scope="module")
def trial(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(cluster, tmp_path_factory.mktemp("model")) as found:
        yield found


@contextmanager
def _tunnel(python: Path, home: Path, *words: str) -> Iterator["subprocess.Popen[bytes]"]:
    environment = clean_environment(HOME=str(home), XDG_CONFIG_HOME=str(home / "config"), **CREDENTIALS)
    command = [str(python), "-m", "determined.cli.tunnel", *words]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_port_of_a_trial_answers_through_the_master(trial: Serving) -> None:
    assert trial.get("some/page?x=1").data == f"Hello /proxy/{trial.task_id}:{trial.http}/some/page?x=1".encode()
    assert len(trial.get("big").data) == 50_000_000


def test_lists_of_tasks_name_the_ports(trial: Serving) -> None:
    summaries = trial.client.get("/api/v1/tasks")["allocationIdToSummary"].values()
    [summary] = [one for one in summaries if one["taskId"] == trial.task_id]
    assert [(one["port"], one["proxyTcp"], one["serviceId"]) for one in summary["proxyPorts"]] == [
        (trial.http, False, f"{trial.task_id}:{trial.http}"),
        (trial.echo, True, f"{trial.task_id}:{trial.echo}"),
    ]


def test_a_tunnel_carries_standard_input_and_output(trial: Serving, home: Path) -> None:
    service = f"{trial.task_id}:{trial.echo}"
    sent = os.urandom(1_000_000)
    with _tunnel(Path(sys.executable), home, trial.client.url, service, "--auth") as process:
        got, _ = process.communicate(sent, timeout=180)
    assert got == sent
    assert process.returncode == 0


def test_a_tunnel_listens_on_a_port_of_this_machine(trial: Serving, home: Path) -> None:
    port = free_port()
    service = f"{trial.task_id}:{trial.echo}"
    with _tunnel(Path(sys.executable), home, trial.client.url, service, "--auth", "--listener", port):
        assert echoes(int(port))
        assert echoes(int(port), os.urandom(3_000_000))


@pytest.mark.official
def test_the_tunnel_of_the_official_client_works(trial: Serving, home: Path) -> None:
    port = free_port()
    service = f"{trial.task_id}:{trial.echo}"
    with _tunnel(official_python(), home, trial.client.url, service, "--auth", "--listener", port):
        assert echoes(int(port))
        assert echoes(int(port), os.urandom(1_000_000))


def test_a_tunnel_without_a_login_is_refused(trial: Serving, home: Path) -> None:
    with _tunnel(Path(sys.executable), home, trial.client.url, f"{trial.task_id}:{trial.echo}") as process:
        got, _ = process.communicate(b"x", timeout=180)
    assert (got, process.returncode) == (b"", 1)


def test_ports_of_the_first_trial_are_published_while_it_is_followed(
    cluster: Cluster, home: Path, tmp_path: Path
) -> None:
    http, echo, local = free_port(), free_port(), free_port()
    ports = [{"proxy_port": int(http)}, {"proxy_port": int(echo), "proxy_tcp": True}]
    config = {"entrypoint": f"python3 train.py {http} {echo}", "environment": {"proxy_ports": ports}}
    config |= {"searcher": {"name": "single", "metric": "x"}, "resources": {"slots_per_trial": 0}}
    model = write_experiment(tmp_path / "published", SERVING, config)
    det_program = str(Path(sys.executable).with_name("det"))
    words = [det_program, "e", "create", "-f", "-p", f"{local}:{echo}", str(model), str(model.parent)]
    environment = clean_environment(HOME=str(home), DET_MASTER=cluster.url, NO_COLOR="1", **CREDENTIALS)
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    client = Client(cluster.url)
    try:
        assert echoes(int(local), b"published"), "a connection that is accepted before the trial runs waits for it"
        [experiment] = [e for e in client.get("/api/v1/experiments")["experiments"] if e["name"] == "published"]
        client.post(f"/api/v1/experiments/{experiment['id']}/kill")
        said, _ = process.communicate(timeout=180)
    finally:
        process.kill()
        process.wait()
    assert f"Listening on 127.0.0.1:{local}" in said.decode()


@pytest.mark.parametrize(("words", "why"), [(("-p", "x"), "failed to parse --publish"), (("-p", "80"), "add -f")])
def test_bad_ports_to_publish_are_told_before_anything_is_submitted(
    cluster: Cluster, home: Path, tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    model = write_experiment(tmp_path / "refused", "print()")
    follow = () if "add" in why else ("-f",)
    done = det(home, "e", "create", *follow, *words, str(model), str(model.parent), master=cluster.url, check=False)
    assert done.returncode != 0
    assert why in done.stderr
    assert "Created" not in done.stdout


def test_a_master_that_is_killed_and_comes_back_finds_the_ports_again(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / "cluster")
    cluster.start()
    try:
        with serving(cluster, tmp_path) as found:
            cluster.kill()
            cluster.start()
            eventually(found.hello)
    finally:
        cluster.stop()
        cluster.end_runners()


def test_ports_and_tunnels_work_under_tls(tmp_path: Path, home: Path) -> None:
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=m -addext subjectAltName=IP:127.0.0.1,DNS:localhost"
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(["openssl", *words.split(), "-keyout", key, "-out", cert], check=True, capture_output=True)
    tls = {"cert": str(cert), "key": str(key)}
    cluster = Cluster(tmp_path / "cluster", config={"security": {"initial_user_password": "", "tls": tls}})
    cluster.start()
    try:
        with serving(cluster, tmp_path, cert=str(cert)) as found:
            assert len(found.get("big").data) == 50_000_000
            sent, service = os.urandom(2_000_000), f"{found.task_id}:{found.echo}"
            flags = ("--auth", "--cert-file", str(cert))
            with _tunnel(Path(sys.executable), home, cluster.url, service, *flags) as process:
                got, _ = process.communicate(sent, timeout=180)
            assert got == sent
    finally:
        cluster.stop()
        cluster.end_runners()


def test_det_dev_curl_reaches_a_port(trial: Serving, home: Path) -> None:
    path = f"/proxy/{trial.task_id}:{trial.http}/"
    said = det(home, "dev", "curl", path, master=trial.client.url).stdout
    assert said.strip() == f"Hello {path}"
