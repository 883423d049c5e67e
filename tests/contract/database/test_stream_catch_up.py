"""Clients of `/stream` that come and go: what each holds after it came back is what the database has."""

import itertools
import json
import random
from dataclasses import dataclass, field
from typing import Any

import pytest
from database_world import World
from sqlalchemy import Connection, select

from determined.master.db.queries import change, experiment, experiment_edit
from determined.master.db.schema import experiments
from determined.master.services.stream_spec import Noun, parse_keys, subscription, write_keys
from determined.master.services.stream_sync import Known, catch_up
from determined.wire.stream import FROM_NOW, StartupMsg, SubscriptionSpec

NOUN = "experiments"


@dataclass
class Client:
    """Holds names of experiments by id, and the number up to which it has heard everything."""

    conn: Connection
    projects: list[int] | None = None  # None: of all
    tells_known: bool = False
    names: dict[int, str] = field(default_factory=dict)
    since: int = 0
    resets: int = 0

    def come_back(self) -> None:
        now = Known(change.newest(self.conn), change.horizon(self.conn), "cluster")
        spec = SubscriptionSpec(since=self.since, project_ids=self.projects)
        known = {NOUN: write_keys(NOUN, map(str, self.names))} if self.tells_known else {}
        asked = subscription(StartupMsg("1", {NOUN: spec}, known, extended=True))
        for data in catch_up(self.conn, asked, now).data:
            self._hear(json.loads(data))
        self.since = now.newest

    def _hear(self, message: dict[str, Any]) -> None:
        if "reset" in message:
            assert message["reset"] == [NOUN]
            self.names, self.since, self.resets = {}, 0, self.resets + 1
            self.come_back()
        elif f"{NOUN}_deleted" in message:
            for key in parse_keys(Noun.EXPERIMENTS, message[f"{NOUN}_deleted"]):
                self.names.pop(int(key), None)
        else:
            self.names[message["experiment"]["id"]] = message["experiment"]["name"]


class Changing:
    """Experiments of three projects that are made, renamed, moved and deleted at random."""

    def __init__(self, world: World, seed: int) -> None:
        self._world, self._rng = world, random.Random(seed)
        self.projects = [world.home, world.project({}), world.project({})]
        self._names = itertools.count()

    def change(self) -> None:
        rng, conn = self._rng, self._world.conn
        ids = list(conn.execute(select(experiments.c.id)).scalars())
        name, project = f"name {next(self._names)}", rng.choice(self.projects)
        if not ids or rng.random() < 0.3:
            self._world.experiment({"name": name, "project_id": project})
            return
        chosen, dice = rng.choice(ids), rng.random()
        if dice < 0.4:
            experiment_edit.set_values(conn, chosen, {"name": name})
        elif dice < 0.7:
            experiment_edit.set_values(conn, chosen, {"project_id": project})
        else:
            experiment.delete_row(conn, chosen)

    def names(self, projects: list[int] | None) -> dict[int, str]:
        query = select(experiments.c.id, experiments.c.name)
        if projects is not None:
            query = query.where(experiments.c.project_id.in_(projects))
        return dict(self._world.conn.execute(query).all())


@pytest.mark.parametrize("seed", range(2))
def test_whoever_comes_back_holds_what_there_is(conn: Connection, world: World, seed: int) -> None:
    changing, rng = Changing(world, seed), random.Random(100 + seed)
    first, second = changing.projects[:2]
    clients = [
        Client(conn),
        Client(conn, tells_known=True),
        Client(conn, [first], tells_known=True),
        Client(conn, [first, second], tells_known=True),
    ]
    for _ in range(30):
        for _ in range(rng.randrange(4)):
            changing.change()
        client = rng.choice(clients)
        client.come_back()
        assert client.names == changing.names(client.projects)
    assert [client.resets for client in clients] == [0] * 4


@pytest.mark.parametrize("seed", range(2))
def test_deletions_that_were_swept_away_make_a_client_start_again_and_lose_nothing(
    conn: Connection, world: World, seed: int
) -> None:
    changing, rng = Changing(world, seed), random.Random(seed)
    plain, knowing = Client(conn), Client(conn, tells_known=True)
    for _ in range(30):
        for _ in range(rng.randrange(5)):
            changing.change()
        if rng.random() < 0.5:
            change.sweep(conn, 1)
        client = rng.choice([plain, knowing])
        client.come_back()
        assert client.names == changing.names(None)
    assert plain.resets > 0
    assert knowing.resets == 0, "who says what it has needs no history of deletions"


def test_who_asks_from_now_on_is_told_nothing_of_the_past(conn: Connection, world: World) -> None:
    changing = Changing(world, 1)
    for _ in range(10):
        changing.change()
    client = Client(conn, since=FROM_NOW)
    client.come_back()
    assert client.names == {}
    changing.change()
    experiment_id = world.experiment({"name": "later"})
    client.come_back()
    assert client.names[experiment_id] == "later"


def test_numbers_of_another_database_make_a_client_start_again(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({"name": "here"})
    client = Client(conn, names={2**40: "elsewhere"}, since=change.newest(conn) + 1000)
    client.come_back()
    assert (client.names, client.resets) == ({experiment_id: "here"}, 1)


def test_a_thing_that_changed_often_is_told_once_as_it_is_now(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({"name": "first"})
    for n in range(20):
        experiment_edit.set_values(conn, experiment_id, {"name": f"name {n}"})
    asked = subscription(StartupMsg("1", {NOUN: SubscriptionSpec()}))
    caught = catch_up(conn, asked, Known(change.newest(conn), 0, "cluster"))
    assert [json.loads(data)["experiment"]["name"] for data in caught.data] == ["name 19"]
