"""The master's half of a custom search: its queue of events and what it makes of its client's answers."""

import json
from typing import Any

import pytest

from determined.errors import FailedPrecondition, InvalidArgument
from determined.search.custom_operations import TRIAL_SEED
from determined.search.method import Close, Create, ExitReason, Shutdown, ValidateAfter
from determined.search.searcher import Searcher

ONE = "11111111-1111-4111-8111-111111111111"
TWO = "22222222-2222-4222-8222-222222222222"
CUSTOM = {"name": "custom", "metric": "loss", "smaller_is_better": True, "unit": "batches"}


def started(**searcher: Any) -> Searcher:
    made = Searcher.create({**CUSTOM, **searcher}, {}, seed=1, classic=True)
    assert made.start() == []
    return made


def create(request_id: str = ONE, hyperparams: Any = '{"lr": 0.1}') -> dict[str, Any]:
    return {"createTrial": {"requestId": request_id, "hyperparams": hyperparams}}


def validate_after(length: Any, request_id: str = ONE) -> dict[str, Any]:
    return {"trialOperation": {"validateAfter": {"requestId": request_id, "length": length}}}


def close(request_id: str = ONE) -> dict[str, Any]:
    return {"closeTrial": {"requestId": request_id}}


def kinds(searcher: Searcher) -> list[tuple[int, str]]:
    return [(event["id"], next(key for key in event if key != "id")) for event in searcher.custom().events()]


def test_events_are_numbered_and_wait_until_they_are_acknowledged() -> None:
    searcher = started()
    assert searcher.custom().events() == [{"id": 1, "initialOperations": {}}]
    searcher.posted(1, [create(), validate_after("100")])
    searcher.trial_created(ONE)
    searcher.progress_reported(ONE, 50)
    searcher.validation(ONE, 0.25, 100)
    searcher.exited_early(ONE, ExitReason.ERRORED)
    searcher.exited(ONE)
    assert searcher.custom().events() == [
        {"id": 2, "trialCreated": {"requestId": ONE}},
        {"id": 3, "trialProgress": {"requestId": ONE, "partialUnits": 50}},
        {"id": 4, "validationCompleted": {"requestId": ONE, "metric": 0.25, "validateAfterLength": "100"}},
        {"id": 5, "trialExitedEarly": {"requestId": ONE, "exitedReason": "EXITED_REASON_UNSPECIFIED"}},
        {"id": 6, "trialClosed": {"requestId": ONE}},
    ]
    searcher.posted(4, [])
    assert kinds(searcher) == [(5, "trialExitedEarly"), (6, "trialClosed")]


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        ("ERRORED", "UNSPECIFIED"),
        ("INVALID_HP", "INVALID_HP"),
        ("INIT_INVALID_HP", "INVALID_HP"),
        ("USER_CANCELED", "USER_CANCELED"),
        ("USER_REQUESTED_STOP", "USER_REQUESTED_STOP"),
    ],
)
def test_reasons_have_the_words_of_the_wire(reason: str, word: str) -> None:
    searcher = started()
    searcher.exited_early(ONE, reason)
    assert searcher.custom().events()[-1]["trialExitedEarly"]["exitedReason"] == f"EXITED_REASON_{word}"


def test_an_answer_becomes_operations_in_its_order() -> None:
    answer = [create(), validate_after("100"), create(TWO, '{"net": {"width": 3}}'), close(), {"shutDown": {}}]
    assert started().posted(1, answer) == [
        Create(ONE, {"lr": 0.1}, seed=TRIAL_SEED),
        ValidateAfter(ONE, 100),
        Create(TWO, {"net": {"width": 3}}, seed=42),
        Close(ONE),
        Shutdown(cancel=False, failure=False),
    ]


def test_a_repeated_answer_is_ignored_and_an_unasked_one_is_not() -> None:
    searcher = started()
    assert len(searcher.posted(1, [create()])) == 1
    assert searcher.posted(1, [create(TWO)]) == []
    assert len(searcher.posted(None, [create(TWO)])) == 1


def test_only_the_newest_progress_of_a_trial_waits() -> None:
    searcher = started()
    searcher.posted(1, [create(), create(TWO)])
    for units in range(1000):
        searcher.progress_reported(ONE, units)
    searcher.progress_reported(TWO, 7)
    progress = [event["trialProgress"] for event in searcher.custom().events()]
    assert progress == [{"requestId": ONE, "partialUnits": 999}, {"requestId": TWO, "partialUnits": 7}]


def test_the_answer_to_an_event_that_newer_progress_replaced_still_counts() -> None:
    searcher = started()
    searcher.posted(1, [create()])
    searcher.progress_reported(ONE, 1)
    [seen] = searcher.custom().events()
    searcher.progress_reported(ONE, 2)
    assert len(searcher.posted(seen["id"], [validate_after(5)])) == 1


def test_a_metric_may_be_any_json() -> None:
    searcher = started()
    searcher.validation(ONE, {"loss": [1, "NaN"], "why": "so"}, 5)
    [*_, event] = searcher.custom().events()
    assert event["validationCompleted"]["metric"] == {"loss": [1, "NaN"], "why": "so"}


def test_the_client_says_how_far_the_search_is() -> None:
    searcher = started()
    for said, known in ((0.25, 0.25), (7, 1.0), (-1, 0.0)):
        searcher.posted(None, [{"setSearcherProgress": {"progress": said}}])
        assert searcher.progress() == known


def test_a_custom_search_never_ends_by_itself() -> None:
    searcher = started()
    searcher.posted(1, [create(), close()])
    searcher.trial_created(ONE)
    assert searcher.exited(ONE) == []
    assert searcher.posted(None, [{"shutDown": {"cancel": True}}]) == [Shutdown(cancel=True)]


def nested(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


def test_hyperparameters_may_be_nested_as_deeply_as_those_of_a_config() -> None:
    [made] = started().posted(1, [create(hyperparams=nested(100))])
    assert isinstance(made, Create) and made.hparams == json.loads(nested(100))


BAD = [
    ([{"frobnicate": {}}], r"\[0\].*none of createTrial"),
    ([create(), create()], rf"\[1\].*{ONE} is already"),
    ([create("../../etc")], r"\[0\].*'\.\./\.\./etc' is not a UUID"),
    ([create(hyperparams="{")], r"\[0\].*not JSON"),
    ([create(hyperparams='{"lr": NaN}')], r"\[0\].*NaN is not JSON"),
    ([create(hyperparams='{"lr": 1e999}')], r"\[0\].*hyperparams\.lr: inf cannot be stored"),
    ([create(hyperparams=r'{"name": "\ud800"}')], r"\[0\].*hyperparams\.name: .*surrogate"),
    ([create(hyperparams=r'{"\ud800": 1e999}')], r"\[0\].*hyperparams: .*surrogate"),
    ([create(hyperparams=nested(101))], r"\[0\].*nested deeper than 100"),
    ([create(hyperparams=nested(100_000))], r"\[0\].*nested deeper than 100"),
    ([create(hyperparams="[1]")], r"\[0\].*must be a JSON object"),
    ([create(), close(TWO)], rf"\[1\]: closeTrial: no trial has request id {TWO}"),
    ([validate_after(5)], rf"\[0\]: validateAfter: no trial has request id {ONE}"),
    ([create(), validate_after(0)], r"\[1\].*length 0"),
    ([create(), validate_after("many")], r"\[1\].*'many'"),
    ([create(), validate_after(True)], r"\[1\].*True"),
    ([create(), validate_after(2**63)], r"\[1\].*positive whole number"),
    ([create(), validate_after(10), validate_after(9)], r"\[2\].*9 .*not beyond the 10"),
    ([create(), validate_after(10), validate_after(10)], r"\[2\].*grow"),
    ([create(), close(), validate_after(10)], r"\[2\].*is closed"),
    ([{"shutDown": {}}, create()], r"\[1\].*after shutDown"),
    ([{"setSearcherProgress": {"progress": "NaN"}}], r"\[0\].*progress 'NaN'"),
    ([{"setSearcherProgress": {"progress": float("nan")}}], r"\[0\].*progress nan"),
]


@pytest.mark.parametrize(("answer", "message"), BAD)
def test_an_operation_that_makes_no_sense_is_named_and_nothing_is_done(
    answer: list[dict[str, Any]], message: str
) -> None:
    searcher = started()
    before = searcher.snapshot()
    good = [create("33333333-3333-4333-8333-333333333333"), {"setSearcherProgress": {"progress": 0.5}}]
    with pytest.raises(InvalidArgument, match=message):
        searcher.posted(1, answer)
    with pytest.raises(InvalidArgument, match=r"searcherOperations\[\d\]"):
        searcher.posted(1, [*good, *answer])
    assert searcher.snapshot() == before


@pytest.mark.parametrize("event_id", [-1, 0, 2, 99])
def test_an_event_that_was_never_sent_cannot_be_answered(event_id: int) -> None:
    with pytest.raises(InvalidArgument, match=f"triggeredByEvent {event_id} was never sent"):
        started().posted(event_id, [])


def test_request_ids_are_compared_as_uuids_not_as_text() -> None:
    searcher = started()
    [made] = searcher.posted(1, [create(ONE.replace("-", "").upper())])
    assert isinstance(made, Create) and made.request_id == ONE
    assert searcher.posted(None, [close()]) == [Close(ONE)]


def test_lengths_are_remembered_from_post_to_post() -> None:
    searcher = started()
    searcher.posted(1, [create(), validate_after(10)])
    with pytest.raises(InvalidArgument, match="not beyond the 10"):
        searcher.posted(None, [validate_after("5")])
    assert searcher.posted(None, [validate_after("11")]) == [ValidateAfter(ONE, 11)]


def test_a_restored_search_has_the_same_future() -> None:
    searcher = started()
    searcher.posted(1, [create(), validate_after(10), {"setSearcherProgress": {"progress": 0.1}}])
    searcher.trial_created(ONE)
    other = Searcher.restore(json.loads(json.dumps(searcher.snapshot())))
    for one in (searcher, other):
        assert one.posted(1, [create(TWO)]) == []
        one.validation(ONE, 0.5, 10)
        with pytest.raises(InvalidArgument):
            one.posted(2, [validate_after(10)])
        assert one.posted(2, [validate_after(20), create(TWO)])[0] == ValidateAfter(ONE, 20)
    assert searcher.snapshot() == other.snapshot()


def test_other_searchers_have_no_client() -> None:
    searcher = Searcher.create({"name": "single", "metric": "loss"}, {}, seed=1, classic=False)
    with pytest.raises(FailedPrecondition, match="'single' decides by itself"):
        searcher.custom()
