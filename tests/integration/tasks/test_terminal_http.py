"""Terminals of shells over WebSocket: who gets none, and what is said to them."""

from typing import Any

import pytest
from task_cluster import TaskCluster
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect


def refusal(cluster: TaskCluster, task_id: str, by: Any, **headers: str) -> tuple[int, str]:
    """The code and the words with which a terminal is closed."""
    url = f"{cluster.user.url.replace('http', 'ws', 1)}/terminal/{task_id}"
    with connect(url, additional_headers={**by.headers, **headers}) as socket:
        try:
            socket.recv(timeout=60)
        except ConnectionClosed as e:
            assert e.rcvd is not None
            return e.rcvd.code, e.rcvd.reason
    raise AssertionError("it was not refused")


def test_what_is_no_running_shell_has_no_terminal(cluster: TaskCluster) -> None:
    command = cluster.launch("command")["id"]
    ended = cluster.launch("shell", config={"resources": {"slots": 0}})["id"]
    cluster.finish(ended)
    assert refusal(cluster, command, cluster.user) == (1008, f"shell '{command}' not found")
    assert refusal(cluster, "unknown", cluster.user) == (1008, "shell 'unknown' not found")
    assert refusal(cluster, ended, cluster.user) == (1008, f"shell {ended} has ended; start another one")


def test_only_the_owner_and_administrators_come_near_a_shell(cluster: TaskCluster) -> None:
    shell = cluster.launch("shell", config={"resources": {"slots": 0}})["id"]
    cluster.start(shell)
    code, words = refusal(cluster, shell, cluster.person("ada"))
    assert code == 1008
    assert "owner" in words
    for by in (cluster.user, cluster.admin):  # its node is not connected, which others must not learn
        code, words = refusal(cluster, shell, by)
        assert (code, words[:38]) == (1013, "the node of this task is not connected")


def test_a_shell_beside_a_trial_is_for_its_owner(cluster: TaskCluster) -> None:
    cluster.submit()
    [launch] = cluster.launched()
    task = launch.allocation_id.rpartition(".")[0]
    assert refusal(cluster, task, cluster.user)[0] == 1008
    assert refusal(cluster, f"{task}:80", cluster.user)[0] == 1008
    assert refusal(cluster, f"{task}:shell", cluster.person("ada"))[0] == 1008
    assert refusal(cluster, f"{task}:shell", cluster.user)[0] == 1013  # its runner is not connected


def test_a_page_of_another_origin_gets_no_terminal(cluster: TaskCluster) -> None:
    shell = cluster.launch("shell", config={"resources": {"slots": 0}})["id"]
    token = cluster.user.headers["Authorization"].removeprefix("Bearer ")
    url = f"{cluster.user.url.replace('http', 'ws', 1)}/terminal/{shell}"
    for headers in ({}, {"Cookie": f"auth={token}", "Origin": "http://evil.example"}):
        with pytest.raises(InvalidStatus), connect(url, additional_headers=headers):
            pass
