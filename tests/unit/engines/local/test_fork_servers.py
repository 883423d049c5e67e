"""Which fork server the local engine asks, when it starts one, and when it does not try again."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from determined.engines.host.process import Identity
from determined.engines.local import fork_servers
from determined.engines.local.fork_servers import ForkServers
from determined.rundir.fork_protocol import Unsuitable
from determined.rundir.layout import RunDir
from determined.rundir.preload import PreloadList

ANN = Identity(1001, 1001, (1001,))


class Server:
    """Stands for a process that is ready at once, and ends when a test says so."""

    made: list["Server"]

    def __init__(self, python: str, preload: PreloadList | None, log: Path) -> None:
        self.preload = preload
        self.ended: str | None = None
        self.unsuitable: Unsuitable | None = None
        self.rest_seconds = 0.0
        self.forks: list[str] = []
        Server.made.append(self)

    def is_ready(self) -> bool:
        return self.ended is None

    def fork(self, run_dir: RunDir) -> Any:
        self.forks.append(run_dir.path.name)
        return self

    def close(self) -> None:
        self.ended = "closed"

    def end(self, *, module: str | None = None, why: str = "gone", rest: float = 0.0) -> None:
        self.ended, self.rest_seconds = why, rest
        self.unsuitable = Unsuitable(module, why) if module is not None else None


@pytest.fixture
def clock() -> list[float]:
    return [0.0]


@pytest.fixture
def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> ForkServers:
    Server.made = []
    monkeypatch.setattr(fork_servers, "ForkServer", Server)
    return ForkServers("python3", tmp_path, clock=lambda: clock[0])


def run_dir(tmp_path: Path, name: str = "r", modules: tuple[str, ...] = ()) -> RunDir:
    directory = RunDir(tmp_path / name)
    directory.path.mkdir(exist_ok=True)
    if modules:
        directory.preload_list.write_bytes(msgspec.json.encode(PreloadList(list(modules), {}, [])))
    return directory


def launched(servers: ForkServers, tmp_path: Path, times: int = 2, group: str | None = "g") -> Any:
    return [servers.fork(run_dir(tmp_path), None, group) for _ in range(times)][-1]


def test_single_task_starts_no_server(servers: ForkServers, tmp_path: Path) -> None:
    assert launched(servers, tmp_path, times=1) is None
    assert Server.made == []


def test_second_launch_starts_one_for_all_that_follow(servers: ForkServers, tmp_path: Path) -> None:
    assert launched(servers, tmp_path, times=3) is Server.made[0]
    assert len(Server.made) == 1


def test_another_users_runner_is_never_forked(servers: ForkServers, tmp_path: Path) -> None:
    launched(servers, tmp_path)
    assert [servers.fork(run_dir(tmp_path), ANN, None) for _ in range(3)] == [None] * 3
    servers.learn(run_dir(tmp_path, "done", ("torch",)), ANN, "g")
    assert len(Server.made) == 1
    assert Server.made[0].forks == ["r"]


def test_next_trials_fork_from_what_the_first_has_imported(servers: ForkServers, tmp_path: Path) -> None:
    launched(servers, tmp_path)
    servers.learn(run_dir(tmp_path, "done", ("torch",)), None, "g")
    base, preloaded = Server.made
    assert (base.preload, preloaded.preload) == (None, PreloadList(["torch"], {}, []))
    assert launched(servers, tmp_path, 1) is preloaded
    assert launched(servers, tmp_path, 1, group="other") is base
    assert launched(servers, tmp_path, 1, group=None) is base


def test_experiments_that_import_the_same_share_a_server(servers: ForkServers, tmp_path: Path) -> None:
    launched(servers, tmp_path)
    for group in ("g", "h"):
        servers.learn(run_dir(tmp_path, group, ("torch",)), None, group)
    assert len(Server.made) == 2
    assert launched(servers, tmp_path, 1, group="h") is Server.made[1]


def test_trial_without_a_note_teaches_nothing(servers: ForkServers, tmp_path: Path) -> None:
    launched(servers, tmp_path)
    servers.learn(run_dir(tmp_path, "done"), None, "g")
    servers.learn(run_dir(tmp_path, "more", ("torch",)), None, None)
    assert len(Server.made) == 1


def test_module_that_cannot_be_shared_is_left_out(servers: ForkServers, tmp_path: Path) -> None:
    launched(servers, tmp_path)
    servers.learn(run_dir(tmp_path, "done", ("torch", "threads", "threads.x")), None, "g")
    Server.made[1].end(module="threads", why="starts threads")
    assert launched(servers, tmp_path, 1) is Server.made[0], "meanwhile"
    assert launched(servers, tmp_path, 1) is Server.made[2]
    assert Server.made[2].preload == PreloadList(["torch"], {}, [])


def test_list_that_fails_again_and_again_is_given_up(servers: ForkServers, tmp_path: Path) -> None:
    launched(servers, tmp_path)
    names = tuple(f"m{number}" for number in range(9))
    servers.learn(run_dir(tmp_path, "done", names), None, "g")
    for number in range(9):
        if len(Server.made) > number + 1:
            Server.made[number + 1].end(module=f"m{number}", why="starts threads")
        launched(servers, tmp_path)
    assert len(Server.made) == 5, "the one without a list, and four attempts"


def test_list_that_is_unsuitable_as_a_whole_is_given_up(servers: ForkServers, tmp_path: Path) -> None:
    launched(servers, tmp_path)
    servers.learn(run_dir(tmp_path, "done", ("torch",)), None, "g")
    Server.made[1].end(module="", why="the script changes X itself")
    launched(servers, tmp_path, 3)
    servers.learn(run_dir(tmp_path, "again", ("torch",)), None, "g")
    assert len(Server.made) == 2


def test_interpreter_that_cannot_serve_is_not_tried_again(
    servers: ForkServers, tmp_path: Path, clock: list[float]
) -> None:
    launched(servers, tmp_path)
    Server.made[0].end(module="", why="this system does not tell")
    clock[0] = 1e9
    assert launched(servers, tmp_path, 3) is None
    assert len(Server.made) == 1


def test_server_that_ended_is_replaced_after_its_rest(servers: ForkServers, tmp_path: Path, clock: list[float]) -> None:
    launched(servers, tmp_path)
    Server.made[0].end(why="memory is short", rest=60.0)
    assert launched(servers, tmp_path, 3) is None
    clock[0] = 61.0
    assert launched(servers, tmp_path, 1) is Server.made[1]


def test_only_so_many_servers_are_kept_and_the_unused_one_goes(servers: ForkServers, tmp_path: Path) -> None:
    launched(servers, tmp_path)
    for number in range(4):
        servers.learn(run_dir(tmp_path, f"d{number}", (f"m{number}",)), None, f"g{number}")
        launched(servers, tmp_path, 1, group=None)
    assert [server.ended for server in Server.made] == [None, "closed", None, None, None]


def test_closed_engine_starts_no_server(servers: ForkServers, tmp_path: Path) -> None:
    launched(servers, tmp_path)
    servers.close()
    assert Server.made[0].ended == "closed"
    assert launched(servers, tmp_path, 3) is None
