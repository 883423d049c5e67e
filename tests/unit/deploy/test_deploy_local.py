"""`det deploy local`: what is refused before anything starts, and where a master listens."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from determined.deploy import environment, local, ray, reachability
from determined.deploy.options import MasterOptions
from determined.deploy.process import _reached_at, is_free
from determined.errors import FailedPrecondition, InvalidConfig, NotFound


@pytest.fixture(autouse=True)
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DET_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which another program listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield int(listener.getsockname()[1])


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def test_a_port_of_another_program_is_named_with_the_option_that_changes_it(taken: int, state_dir: Path) -> None:
    with pytest.raises(FailedPrecondition, match=f"port {taken} is taken by another program; .*--master-port"):
        local.up("x", local.ClusterOptions(port=taken))
    with pytest.raises(FailedPrecondition, match=f"port {taken} is taken by another program; .*--master-port"):
        ray.up("x", ray.RayOptions(f"http://127.0.0.1:{taken}", port=taken))
    assert not list(state_dir.rglob("master.yaml"))


def test_a_cluster_that_was_never_started_takes_no_import(state_dir: Path) -> None:
    with pytest.raises(NotFound, match="no cluster 'misspelt'; det deploy local cluster-up --cluster-name misspelt"):
        local.existing("misspelt")
    assert not state_dir.exists()


def test_host_and_port_of_a_config_of_ones_own_are_used(taken: int, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(f"host: 127.0.0.1\nport: {taken}\n")
    with pytest.raises(FailedPrecondition, match=f"port {taken} is taken"):
        local.up("x", local.ClusterOptions(master_config_path=file))


@pytest.mark.parametrize("text", ["port: many\n", "nonsense_key: 1\n", "resource_pools: 5\n"])
def test_a_wrong_config_is_refused_before_a_running_cluster_is_stopped_for_it(
    tmp_path: Path, state_dir: Path, text: str
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(InvalidConfig, match=text.partition(":")[0]):
        local.up("x", local.ClusterOptions(master_config_path=file))
    assert not state_dir.exists()


def test_options_of_the_command_line_become_fields_of_the_config() -> None:
    assert local._config(local.ClusterOptions()) == {}
    options = local.ClusterOptions(storage_host_path="/c", auto_work_dir="/w", gpu=False, agents=3)
    assert local._config(options) == {
        "checkpoint_storage": {"type": "shared_fs", "host_path": "/c"},
        "task_container_defaults": {"work_dir": "/w"},
        "slot_type": "cpu",
        "local_agents": 3,
    }


def test_passwords_are_not_shown_with_the_options() -> None:
    for options in (
        local.ClusterOptions(initial_user_password="s3cret"),
        ray.RayOptions("http://h:8265", initial_user_password="s3cret"),
        MasterOptions(password="s3cret"),
    ):
        assert "s3cret" not in repr(options)


def test_a_cluster_that_never_was_is_not_taken_down(state_dir: Path) -> None:
    assert local.down("never", delete_db=True) is False
    assert not state_dir.exists()


def test_a_master_gets_neither_the_surroundings_of_a_task_nor_those_of_another_master(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("DET_MASTER", "DET_USER_TOKEN", "DET_SESSION_TOKEN", "DET_STATE_DIR", "DET_ENVIRONMENT_CACHE_DAYS"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:1")
    given = environment.for_master()
    assert [name for name in given if name.startswith("DET_")] == ["DET_ENVIRONMENT_CACHE_DAYS"]
    assert given["HTTPS_PROXY"] == "http://proxy:1"


@pytest.mark.skipif(not _has_ipv6(), reason="this machine has no IPv6")
def test_a_port_of_ipv6_is_free_or_not_as_one_of_ipv4() -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as listener:
        port = int(listener.getsockname()[1])
        assert not is_free("::1", port)
    assert is_free("::1", port)
    assert is_free("::", port)


def test_an_address_of_another_machine_is_not_called_a_taken_port() -> None:
    """The master itself says that it cannot listen there, and why."""
    assert is_free("192.0.2.1", 8080)


@pytest.mark.parametrize(
    ("host", "reached_at"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.1"),
        ("::", "127.0.0.1"),
        ("::1", "[::1]"),
        ("10.0.0.7", "10.0.0.7"),
        ("head.example", "head.example"),
    ],
)
def test_a_master_is_reached_at_what_it_listens_on(host: str, reached_at: str) -> None:
    assert _reached_at(host) == reached_at


def test_an_address_of_ipv6_is_written_as_addresses_write_it() -> None:
    [said] = reachability.describe("https://[fd00::7]:8443", "fd00::7")
    assert said.startswith("Others reach it at https://[fd00::7]:8443: det -m https://[fd00::7]:8443 ")
    [only_here] = reachability.describe("http://[::1]:8080", "::1")
    assert only_here.startswith("Only this machine reaches it.")
