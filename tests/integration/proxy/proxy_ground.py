"""A master, trials that declare ports, and for each the tunnel that its runner would open."""

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from small_app import SmallApp
from tracked import IdleEngine, until

from determined.exec.master_link import MasterLink
from determined.exec.runner.tunnel import Tunnel
from determined.wire.codec import to_json
from determined.wire.report import LaunchFile, Service

PASSWORD = "Proxied-Proxied-1"


@dataclass
class Served:
    """A trial whose ports are served."""

    task_id: str
    launch: Any
    services: list[Service]
    tunnel: Tunnel
    ended: threading.Event = field(default_factory=threading.Event)

    def path(self, app: SmallApp, rest: str = "") -> str:
        return f"/proxy/{self.task_id}:{app.port}/{rest}"

    def end(self) -> None:
        self.ended.set()


class Ground:
    """A master with people, and what they serve."""

    second_port: int | None = None  # `proxy.listen`

    def __init__(self, master: Any, engine: IdleEngine, directory: Path) -> None:
        self.master = master
        self.engine = engine
        self.admin = master.client("admin")
        self._directory = directory
        self.served: list[Served] = []

    def person(self, name: str) -> Any:
        user = {"username": name, "active": True, "admin": False}
        answer = self.admin.post("/api/v1/users", {"user": user, "password": PASSWORD})
        assert answer.status == 200, answer.raw
        return self.master.client(name, PASSWORD)

    def serve(self, owner: Any, *ports: dict[str, Any], connected: bool = True) -> Served:
        """A running trial of this owner with these `proxy_ports`."""
        config = {
            "name": "serves",
            "entrypoint": "python3 train.py",
            "searcher": {"name": "single", "metric": "loss"},
            "max_restarts": 0,
            "environment": {"proxy_ports": list(ports)},
        }
        before = set(self.engine.launches)
        body = {"activate": True, "config": json.dumps(config), "modelDefinition": []}
        answer = owner.post("/api/v1/experiments", body)
        assert answer.status == 200, answer.raw
        until(lambda: set(self.engine.launches) - before)
        launch = self.engine.launches[(set(self.engine.launches) - before).pop()]
        services = [Service(id=str(one["proxy_port"]), port=one["proxy_port"]) for one in ports]
        link = MasterLink(self._launch_file(launch))
        served = Served(launch.allocation_id.rpartition(".")[0], launch, services, Tunnel(link, services))
        self.served.append(served)
        if connected:
            self.connect(served)
        return served

    def raw(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: bytes | None = None
    ) -> http.client.HTTPResponse:
        """Send a request as it is written; the answer has `.status`, `.headers` and `.text`."""
        connection = http.client.HTTPConnection(self.address, timeout=60)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer: Any = connection.getresponse()
            answer.text = answer.read().decode(errors="replace")
        finally:
            connection.close()
        return cast(http.client.HTTPResponse, answer)

    @property
    def address(self) -> str:
        return str(self.master.url).removeprefix("http://")

    def connect(self, served: Served) -> None:
        served.tunnel.start(served.ended)
        tunnels = self.master.app.state.tunnels
        until(lambda: tunnels.services(served.launch.allocation_id) is not None)

    def _launch_file(self, launch: Any) -> Path:
        file = LaunchFile(
            master_url=launch.master_url,
            token=launch.token,
            allocation_id=launch.allocation_id,
            resource_id=launch.resource_id,
            container_id=launch.container_id,
            node_id=launch.node_id,
            rank=launch.rank,
            slot_ids=list(launch.slot_ids),
        )
        path = self._directory / f"launch-{launch.resource_id}.json"
        path.write_bytes(to_json(file))
        return path


@pytest.fixture
def make_ground(start_master: Callable[..., Any], sqlite_url: str, tmp_path: Path) -> Iterator[Callable[..., Ground]]:
    """`make_ground(second_port=False, **config)`: a master with this config."""
    made: list[Ground] = []

    def make(*, second_port: bool = False, **config: Any) -> Ground:
        engine = IdleEngine()
        listen = _free_port() if second_port else None
        if listen is not None:
            config["proxy"] = {"listen": listen}
        master = start_master(sqlite_url, engine_factory=lambda _ctx: [engine], **config)
        made.append(Ground(master, engine, tmp_path))
        made[-1].second_port = listen
        return made[-1]

    yield make
    for ground in made:
        for served in ground.served:
            served.end()


@pytest.fixture
def ground(make_ground: Callable[..., Ground]) -> Ground:
    return make_ground()


@pytest.fixture
def make_app() -> Iterator[Callable[..., SmallApp]]:
    made: list[SmallApp] = []

    def make(**how: Any) -> SmallApp:
        made.append(SmallApp(**how))
        return made[-1]

    yield make
    for app in made:
        app.close()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port
