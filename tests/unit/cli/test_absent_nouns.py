"""Nouns of upstream's that are not there yet are said to be missing, with another way, and not listed as typos."""

import pytest

from determined.cli.main import _ABSENT, NOUNS, main


@pytest.mark.parametrize("word", ["model", "m", "template", "tpl", "webhook"])
def test_a_noun_that_is_not_there_yet_is_told_apart_from_a_typo(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([word, "list"]) == 2
    message = capsys.readouterr().err
    assert "is not there yet; " in message
    assert "choose from" not in message


def test_what_is_there_is_not_called_absent() -> None:
    assert not {name for names, _, _ in NOUNS for name in names} & set(_ABSENT)
