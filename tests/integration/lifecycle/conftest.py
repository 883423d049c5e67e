"""A master's lifecycle without its HTTP side: real database and reconciler, an engine in memory, a movable clock."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode adds no folder to the path

from linked_os_user import place, python  # noqa: F401  fixtures
from world import World, WorldFactory


@pytest.fixture
async def make_world(db_url: str) -> AsyncIterator[WorldFactory]:
    """`make_world(slots=4, nodes=1, **master_config)`: not yet opened; `async with` or `await open()` starts it."""
    made: list[World] = []

    def make(**options: object) -> World:
        made.append(World(db_url, **options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for world in made:
        await world.close()


@pytest.fixture
async def world(make_world: WorldFactory) -> World:
    """One node of four slots."""
    world = make_world()
    await world.open()
    return world
