"""Subscriptions to `/stream`: lists of keys, filters and what they take."""

import random
from collections.abc import Callable
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from determined.errors import InvalidArgument
from determined.master.services.stream_spec import MAX_NAMED, Filter, Noun, parse_keys, subscription, union, write_keys
from determined.wire.stream import StartupMsg, SubscriptionSpec

T = TypeVar("T")


def asked(known: dict[str, str] | None = None, **nouns: SubscriptionSpec) -> StartupMsg:
    return StartupMsg("7", nouns, known or {})


@given(st.sets(st.integers(0, 10**18 - 1), max_size=50))
def test_numbers_survive_being_written_as_ranges(numbers: set[int]) -> None:
    keys = {str(number) for number in numbers}
    text = write_keys(Noun.TRIALS, keys)
    assert (parse_keys(Noun.TRIALS, text) if text else frozenset()) == keys


@given(st.sets(st.integers(0, 60), min_size=1))
def test_neighbours_are_written_as_one_range(numbers: set[int]) -> None:
    text = write_keys(Noun.TRIALS, map(str, numbers))
    beginnings = sum(number - 1 not in numbers for number in numbers)
    assert len(text.split(",")) == beginnings


@pytest.mark.parametrize(
    ("text", "keys"),
    [("1", {"1"}), ("1,4-6", {"1", "4", "5", "6"}), ("3-3", {"3"}), ("2,2,1-2", {"1", "2"}), ("007", {"7"})],
)
def test_ranges_are_read_as_upstream_writes_them(text: str, keys: set[str]) -> None:
    assert parse_keys(Noun.EXPERIMENTS, text) == keys


def test_keys_that_are_texts_are_listed_one_by_one() -> None:
    assert parse_keys(Noun.CHECKPOINTS, "a-1,b") == {"a-1", "b"}
    assert write_keys(Noun.CHECKPOINTS, ["b", "a-1"]) == "a-1,b"


@pytest.mark.parametrize("text", ["x", "1,", "1-", "-1", "1-2-3", "1 2", "1.5", "9" * 19])
def test_what_is_no_number_and_no_range_is_named(text: str) -> None:
    with pytest.raises(InvalidArgument, match=r"known\.trials: .* is neither a number nor a range such as 4-9"):
        parse_keys(Noun.TRIALS, text)


def test_a_range_of_everything_is_refused_before_it_is_counted() -> None:
    with pytest.raises(InvalidArgument, match="names more than 1000000 things; leave it out"):
        parse_keys(Noun.TRIALS, "1-1000002")
    with pytest.raises(InvalidArgument, match="names more than 1000000"):
        parse_keys(Noun.TRIALS, "1-900000,2000001-2100002")


def test_a_noun_that_does_not_exist_is_told_with_those_that_do() -> None:
    with pytest.raises(InvalidArgument, match=r"subscribe\.cats: there is no such noun; use projects, experiments"):
        subscription(asked(cats=SubscriptionSpec()))


@pytest.mark.parametrize(
    ("spec", "kept", "left"),
    [
        (SubscriptionSpec(), [("1", 1), ("9", None)], []),
        (SubscriptionSpec(trial_ids=[3]), [("3", 1), ("3", None)], [("4", 3)]),
        (SubscriptionSpec(experiment_ids=[3]), [("4", 3)], [("3", 1), ("3", None)]),
        (SubscriptionSpec(trial_ids=[1], experiment_ids=[3]), [("1", 9), ("7", 3)], [("7", 1)]),
        (SubscriptionSpec(trial_ids=[]), [], [("1", 1)]),
        (SubscriptionSpec(workspace_ids=[1]), [("1", 5)], []),
    ],
)
def test_a_filter_takes_what_it_names_or_whose_owner_it_names(
    spec: SubscriptionSpec, kept: list[tuple[str, int | None]], left: list[tuple[str, int | None]]
) -> None:
    found = subscription(asked(trials=spec))
    assert all(found.takes("trials", *one) for one in kept)
    assert not any(found.takes("trials", *one) for one in left)
    assert not found.takes("jobs", "1", 1), "it was not asked for"


def test_what_two_clients_want_is_read_once_and_is_neither_more_nor_less() -> None:
    rng = random.Random(4)
    for _ in range(100):
        filters = [
            Filter(everything=rng.random() < 0.1, ids=_some(rng, str), parents=_some(rng, int)) for _ in range(3)
        ]
        subscriptions = [subscription(asked(trials=SubscriptionSpec())) for _ in filters]
        merged = union(
            type(one)(one.sync_id, {Noun.TRIALS: wanted}, {}, {}, False, "")
            for one, wanted in zip(subscriptions, filters, strict=True)
        )[Noun.TRIALS]
        for key in map(str, range(6)):
            for parent in (None, *range(6)):
                assert merged.takes(key, parent) == any(one.takes(key, parent) for one in filters)


def _some(rng: random.Random, kind: Callable[[int], T]) -> frozenset[T]:
    return frozenset(kind(n) for n in rng.sample(range(6), rng.randrange(3)))


def test_too_many_ids_are_refused_with_what_to_name_instead() -> None:
    subscription(asked(trials=SubscriptionSpec(trial_ids=list(range(MAX_NAMED)))))
    spec = SubscriptionSpec(trial_ids=list(range(MAX_NAMED)), experiment_ids=[1])
    with pytest.raises(InvalidArgument, match="names more than 20000 ids; name their owner or nothing"):
        subscription(asked(trials=spec))


def test_what_a_client_knows_is_kept_for_the_nouns_it_asks_for() -> None:
    found = subscription(asked({"trials": "1-2", "jobs": "a", "experiments": ""}, trials=SubscriptionSpec(since=5)))
    assert dict(found.known) == {Noun.TRIALS: frozenset({"1", "2"})}
    assert dict(found.since) == {Noun.TRIALS: 5}


def test_only_things_that_change_owners_are_followed_when_an_owner_was_named() -> None:
    by_project = SubscriptionSpec(project_ids=[1])
    found = subscription(asked(experiments=by_project, projects=SubscriptionSpec(), trials=SubscriptionSpec()))
    assert found.follows(Noun.EXPERIMENTS)
    assert not found.follows(Noun.PROJECTS), "everything was asked for: nothing can leave it"
    assert not found.follows(Noun.TRIALS)
    assert not found.follows(Noun.JOBS)
