"""How the text of the search box is read."""

import pytest

from determined.master.services.lookup import Wanted, parse
from determined.wire.lookup import HitKind


@pytest.mark.parametrize("text", ["t 97", "t97", "T97", "trial 97", "trial: 97", "run #97", "  t   97 "])
def test_a_word_and_a_number_name_one_thing(text: str) -> None:
    first, whole = parse(text)
    assert first == Wanted("97", HitKind.TRIAL) and first.number == 97
    assert whole == Wanted(text.strip())


def test_other_text_is_part_of_a_name() -> None:
    assert parse("my run") == [Wanted("my run")]
    assert parse("resnet50") == [Wanted("resnet50")] and Wanted("resnet50").number is None
    assert parse("   ") == []


def test_numbers_that_no_id_can_be_are_text() -> None:
    assert Wanted(str(2**70)).number is None and Wanted("\u0661").number is None and Wanted("#12").number == 12
    assert Wanted("9" * 5000).number is None and Wanted("#").number is None and Wanted("007").number == 7
