"""Passwords reach a command without standing in its arguments."""

import io
import sys

import pytest

from determined.cli import passwords
from determined.errors import Unauthenticated


def test_dash_reads_the_password_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("Tr1cky Pass\nnext"))
    assert passwords.given("-", "--password") == "Tr1cky Pass"
    assert capsys.readouterr().err == ""


def test_password_in_the_arguments_works_and_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    assert passwords.given("Tr1ckyPass", "--password") == "Tr1ckyPass"
    said = capsys.readouterr().err
    assert "(ps)" in said and "'--password -'" in said and "Tr1ckyPass" not in said


def test_no_password_asks_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert passwords.given(None, "--password") is None
    assert capsys.readouterr().err == ""


def test_nothing_to_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    with pytest.raises(Unauthenticated, match="standard input"):
        passwords.given("-", "--password")
