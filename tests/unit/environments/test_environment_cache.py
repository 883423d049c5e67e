"""Which environments go: by age and size, never one that is used."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from determined.environments import cache
from determined.environments.cache_directory import Bounds, Place, place_of
from determined.errors import InvalidArgument

DAY = 86400.0


@pytest.fixture
def now() -> float:
    return time.time()


@pytest.fixture
def add(place: Place, now: float) -> Callable[..., str]:
    """An environment by hand, last used so many days ago."""

    def make(key: str, *, days: float = 0.0, size: int = 100) -> str:
        path = place.environments / key
        (path / "bin").mkdir(parents=True)
        (path / "bin" / "python").symlink_to("/bin/sh")
        cache.publish(path, {"size": size})
        os.utime(path / "determined.json", (now - days * DAY, now - days * DAY))
        return key

    return make


def keys(place: Place) -> list[str]:
    return [one.key for one in cache.list_cached(place)]


def test_the_unused_go_by_age(place: Place, add: Callable[..., str], now: float) -> None:
    add("old", days=31)
    add("young", days=29)
    assert [one.key for one in cache.clean(place, now, Bounds(days=30))] == ["old"]
    assert keys(place) == ["young"]
    assert not cache.lock_of(place, "old").exists()


def test_beyond_the_size_the_longest_unused_go_first(place: Place, add: Callable[..., str], now: float) -> None:
    for days, key in enumerate(["a", "b", "c"]):
        add(key, days=days, size=100)
    assert [one.key for one in cache.clean(place, now, Bounds(days=99, size=150))] == ["c", "b"]


def test_one_that_is_used_stays(place: Place, add: Callable[..., str], now: float) -> None:
    hold = cache.Hold(cache.lock_of(place, add("used", days=99)))
    assert hold.share()
    assert cache.is_used(place, "used")
    assert cache.clean(place, now, Bounds(days=0)) == []
    hold.close()
    assert [one.key for one in cache.clean(place, now, Bounds(days=0))] == ["used"]


def test_two_may_use_it_and_nobody_takes_it_from_them(place: Place) -> None:
    first, second = cache.Hold(cache.lock_of(place, "k")), cache.Hold(cache.lock_of(place, "k"))
    assert first.share() and second.share()
    third = cache.Hold(cache.lock_of(place, "k"))
    assert not third.take()
    first.close()
    assert not third.take()
    second.close()
    assert third.take()
    third.close()


def test_a_lock_on_a_file_that_was_removed_is_the_lock_of_nobody(place: Place, add: Callable[..., str]) -> None:
    add("k")
    early = cache.Hold(cache.lock_of(place, "k"))
    cache.clean(place, time.time() + 1, Bounds(days=0))
    assert early.take()
    late = cache.Hold(cache.lock_of(place, "k"))
    assert not late.take(), "both hold the file that is there now"
    early.close()
    late.close()


def test_ruins_go_unless_they_are_being_built(place: Place, now: float) -> None:
    for key in ("ruin", "growing"):
        (place.environments / key).mkdir(parents=True)
    cache.lock_of(place, "failed").touch()
    builder = cache.Hold(cache.lock_of(place, "growing"))
    assert builder.take()
    cache.clean(place, now, Bounds())
    assert sorted(path.name for path in place.environments.iterdir()) == ["growing", "growing.lock"]
    builder.close()


def test_only_those_named_go(place: Place, add: Callable[..., str], now: float) -> None:
    add("one")
    add("two")
    cache.clean(place, now, Bounds(days=0), ["one"])
    assert keys(place) == ["two"]


def test_bounds_and_place_come_from_the_surroundings(tmp_path: Path) -> None:
    variables = {"DET_ENVIRONMENT_CACHE": str(tmp_path / "c"), "DET_ENVIRONMENT_CACHE_GIB": "2"}
    place = place_of({**variables, "DET_ENVIRONMENT_CACHE_DAYS": "7"}, print)
    assert place.bounds == Bounds(days=7, size=2 * 2**30)
    assert place.environments == tmp_path / "c" / "environments"
    assert place_of({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, print).root == Path("/x/determined")
    assert place_of({"HOME": "/h"}, print).root == Path("/h/.cache/determined")


def test_a_bound_that_is_no_number_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="DET_ENVIRONMENT_CACHE_GIB='many'"):
        place_of({"HOME": "/h", "DET_ENVIRONMENT_CACHE_GIB": "many"}, print)
