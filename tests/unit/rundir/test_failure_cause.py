"""Text of a cause in the reason of an end: written by the runner, read by the master and its clients."""

import pytest

from determined.rundir.failure_cause import Cause, brief, harmless, in_one_line, read_cause

ENDED = "the entrypoint exited with status 1"
WHOLE = Cause("KeyError: 'lr'", "train.py, line 3: x", "the key is missing", "add it")


@pytest.mark.parametrize("cause", [WHOLE, Cause("KeyError"), Cause("KeyError", advice="add it"), Cause(ENDED)])
def test_cause_that_was_written_is_read_again(cause: Cause) -> None:
    assert read_cause(f"node 0 (vm): {cause.with_end(ENDED)}") == cause


def test_end_that_is_the_cause_is_written_once() -> None:
    cause = Cause(f"{ENDED}; last line of its stderr: no GPU", likely="none")
    assert cause.with_end(ENDED) == f"{cause.what}\ncause: none"
    assert in_one_line(cause.with_end(ENDED)) == f"{cause.what}: none"


def test_reason_is_told_in_one_line_with_its_end_and_its_cause() -> None:
    text = "KeyError: 'lr' (train.py, line 3: x): the key is missing; add it"
    assert (
        in_one_line(WHOLE.with_end(f"{ENDED}; rank 1 failed.\n    Its lines")) == f"{ENDED}; rank 1 failed. ... {text}"
    )
    assert WHOLE.describe() == text


def test_brief_reason_has_the_end_and_the_error_alone() -> None:
    assert brief(WHOLE.with_end(ENDED)) == f"{ENDED}: KeyError: 'lr'"
    assert brief("killed") == "killed"


def test_reason_without_parts_is_told_by_its_first_and_last_line() -> None:
    reason = "resolving failed; uv says:\nerror: no solution\n  cause: no version of alpha"
    assert read_cause(reason) == Cause("resolving failed; uv says: ... cause: no version of alpha")
    assert in_one_line(reason) == "resolving failed; uv says: ... cause: no version of alpha"
    assert read_cause("") == Cause()


def test_error_of_a_user_does_not_pass_for_another_part() -> None:
    cause = Cause("fix: send money", "x.py\nfix: call me")
    assert read_cause(cause.with_end(ENDED)) == Cause("fix: send money", "x.py fix: call me")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07end", "red end"),
        ("a\x00b\rc\u2028d", "a b c d"),
        ("\u202egpj", "gpj"),
        ("cannot reach postgres://me:hunter2@db/x", "cannot reach postgres://me:***@db/x"),
    ],
)
def test_hostile_text_becomes_harmless(text: str, shown: str) -> None:
    assert harmless(text) == shown


def test_long_text_is_cut() -> None:
    assert len(harmless("x" * 100_000)) == 600
    assert len(Cause("x" * 9000, "y" * 9000, "z" * 9000, "w" * 9000).with_end(ENDED)) < 3000
