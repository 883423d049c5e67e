"""`--slots` of the commands that start a master."""

import argparse

import pytest

from determined.cli import main as cli
from determined.cli.slots_option import OF_EMBEDDED, _parsed, say_artificial


def test_slots_are_a_number_or_auto() -> None:
    assert (_parsed("0"), _parsed("8"), _parsed("auto")) == (0, 8, "auto")
    for text in ("-1", "1.5", "all", ""):
        with pytest.raises(argparse.ArgumentTypeError, match="give 0 or more, or auto"):
            _parsed(text)


def test_a_wrong_number_of_slots_is_refused_before_anything_starts(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["master", "start", "--slots", "many"])
    assert "'many' is no number of slots; give 0 or more, or auto" in capsys.readouterr().err


def test_artificial_slots_say_that_the_gpus_are_not_offered(capsys: pytest.CaptureFixture[str]) -> None:
    say_artificial(2, OF_EMBEDDED)
    said = capsys.readouterr().err
    assert "It offers 2 CPU slot(s) and no GPUs" in said and "--slots auto" in said
    say_artificial(None, OF_EMBEDDED)
    say_artificial("auto", OF_EMBEDDED)
    assert capsys.readouterr().err == ""
