"""det open: which address it prints, and what it needs to know."""

import argparse
from typing import Any

import pytest

from determined.cli import environment, private_link
from determined.cli.commands import open_page
from determined.cli.grammar import UsageError
from determined.wire.operation import Operation


class AnsweringSession:
    master_url = "http://127.0.0.1:8080"

    def __init__(self) -> None:
        self.posted: list[str] = []

    def call(self, operation: Operation[Any, Any]) -> Any:
        self.posted.append(operation.path)
        return operation.response(code="c0de", expires_at="2026-11-15T00:01:00Z")


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> AnsweringSession:
    made = AnsweringSession()
    monkeypatch.setattr(open_page, "connect", lambda _args, *, start: made)
    return made


def _args(what: str | None = None, number: int | None = None, print_only: bool = True) -> argparse.Namespace:
    return argparse.Namespace(what=what, id=number, print_only=print_only)


def test_the_address_signs_in_and_leads_to_what_was_named(
    session: AnsweringSession, capsys: pytest.CaptureFixture[str]
) -> None:
    open_page.open_page(_args("experiment", 12))
    assert capsys.readouterr().out == "http://127.0.0.1:8080/det/login?redirect=/det/experiments/12#code=c0de\n"
    assert session.posted == ["/api/v1/auth/link"]


def test_without_words_it_is_the_home_page(session: AnsweringSession, capsys: pytest.CaptureFixture[str]) -> None:
    open_page.open_page(_args())
    assert capsys.readouterr().out == "http://127.0.0.1:8080/det/login#code=c0de\n"


def test_a_kind_without_a_number_is_refused_before_a_link_is_made(session: AnsweringSession) -> None:
    with pytest.raises(UsageError, match="which trial"):
        open_page.open_page(_args("trial"))
    assert session.posted == []


@pytest.mark.parametrize(("screen", "print_only", "opened"), [(True, False, 1), (True, True, 0), (False, False, 0)])
def test_a_browser_is_started_only_where_it_would_be_seen(
    session: AnsweringSession, monkeypatch: pytest.MonkeyPatch, screen: bool, print_only: bool, opened: int
) -> None:
    started: list[str] = []
    monkeypatch.setattr(environment, "has_screen", lambda: screen)
    monkeypatch.setattr(private_link, "open_browser", started.append)
    open_page.open_page(_args(print_only=print_only))
    assert len(started) == opened


def test_over_ssh_there_is_no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    assert environment.has_screen()
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
    assert not environment.has_screen()
