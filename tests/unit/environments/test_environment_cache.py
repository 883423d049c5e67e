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


@pytest.mark.parametrize("name", ["DET_ENVIRONMENT_CACHE_GIB", "DET_ENVIRONMENT_CACHE_DAYS"])
@pytest.mark.parametrize("text", ["many", "-1", "nan", "1,5"])
def test_a_bound_that_is_no_number_is_refused(name: str, text: str) -> None:
    with pytest.raises(InvalidArgument, match=f"{name}='{text}' is not a number of at least 0"):
        place_of({"HOME": "/h", name: text}, print)


def test_an_infinite_bound_is_none(place: Place, add: Callable[..., str], now: float) -> None:
    unbounded = {"DET_ENVIRONMENT_CACHE_GIB": "inf", "DET_ENVIRONMENT_CACHE_DAYS": "inf"}
    bounds = place_of({"HOME": "/h", **unbounded}, print).bounds
    add("old", days=5000, size=2**50)
    assert cache.clean(place, now, bounds) == []


@pytest.mark.parametrize("record", ["", "{", "[]", "null", '{"format": 1, "size": 5}', '{"size": 5}'])
def test_a_record_of_another_release_or_half_a_record_is_no_environment(
    place: Place, add: Callable[..., str], now: float, record: str
) -> None:
    path = place.environments / add("damaged") / "determined.json"
    path.write_text(record)
    assert cache.read(path.parent) is None
    assert keys(place) == []
    cache.clean(place, now, Bounds())
    assert list(place.environments.iterdir()) == [], "it is removed as what a killed builder left"


def test_an_environment_without_its_python_is_none(place: Place, add: Callable[..., str]) -> None:
    path = place.environments / add("moved")
    (path / "bin" / "python").unlink()
    assert cache.read(path) is None
    (path / "bin" / "python").write_text("not executable")
    (path / "bin" / "python").chmod(0o644)
    assert cache.read(path) is None


def test_using_an_environment_makes_it_the_youngest(place: Place, add: Callable[..., str], now: float) -> None:
    add("a", days=2)
    add("b", days=1)
    [oldest, _] = cache.list_cached(place)
    cache.touch(oldest, now)
    assert keys(place) == ["b", "a"]


def test_a_size_counts_links_as_links_and_directories_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "e" / "sub").mkdir(parents=True)
    (tmp_path / "e" / "sub" / "file").write_bytes(b"x" * 1000)
    (tmp_path / "big").write_bytes(b"y" * 100_000)
    (tmp_path / "e" / "link").symlink_to(tmp_path / "big")
    (tmp_path / "e" / "loop").symlink_to(tmp_path / "e")
    assert 1000 <= cache.size_of(tmp_path / "e") < 2000


def test_old_resolutions_are_forgotten_and_young_ones_kept(place: Place, now: float) -> None:
    cache.forget_resolutions(place, now, 1)  # there is no directory yet
    place.resolutions.mkdir(parents=True)
    for name, days in (("old.txt", 3), ("young.txt", 1)):
        (place.resolutions / name).touch()
        os.utime(place.resolutions / name, (now - days * DAY, now - days * DAY))
    cache.forget_resolutions(place, now, 2)
    assert [path.name for path in place.resolutions.iterdir()] == ["young.txt"]


def test_a_lock_that_is_a_link_is_not_followed(place: Place, tmp_path: Path) -> None:
    place.environments.mkdir(parents=True)
    (tmp_path / "somewhere").write_text("of somebody else")
    cache.lock_of(place, "k").symlink_to(tmp_path / "somewhere")
    with pytest.raises(OSError, match="symbolic link"):
        cache.Hold(cache.lock_of(place, "k"))
