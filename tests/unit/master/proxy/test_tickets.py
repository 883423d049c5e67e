"""Tickets and cookies of apps."""

from datetime import UTC, datetime, timedelta

from determined.master.proxy.tickets import TICKET_LIFETIME, Pass, Tickets, seal, unseal

NOW = datetime(2026, 11, 18, tzinfo=UTC)
RIGHT = Pass(allocation_id="t.1", service="t:80", session_id=3, main_origin="http://localhost", expires=9.5)


def test_a_ticket_is_good_once() -> None:
    tickets = Tickets()
    ticket = tickets.issue(RIGHT, NOW)
    assert tickets.redeem(ticket, "t:80", NOW + timedelta(seconds=29)) == RIGHT
    assert tickets.redeem(ticket, "t:80", NOW) is None


def test_a_ticket_expires() -> None:
    tickets = Tickets()
    assert tickets.redeem(tickets.issue(RIGHT, NOW), "t:80", NOW + TICKET_LIFETIME) is None


def test_a_ticket_for_another_service_is_spent_and_worth_nothing() -> None:
    tickets = Tickets()
    ticket = tickets.issue(RIGHT, NOW)
    assert tickets.redeem(ticket, "t:81", NOW) is None
    assert tickets.redeem(ticket, "t:80", NOW) is None


def test_tickets_that_nobody_redeems_do_not_fill_the_memory() -> None:
    tickets = Tickets()
    first = tickets.issue(RIGHT, NOW)
    for _ in range(10_000):
        last = tickets.issue(RIGHT, NOW)
    assert tickets.redeem(first, "t:80", NOW) is None
    assert tickets.redeem(last, "t:80", NOW) == RIGHT


def test_a_cookie_gives_the_right_that_was_sealed() -> None:
    assert unseal(b"secret", seal(b"secret", RIGHT)) == RIGHT


def test_a_cookie_of_another_secret_or_with_another_content_gives_none() -> None:
    cookie = seal(b"secret", RIGHT)
    assert unseal(b"other", cookie) is None
    for changed in (cookie[:-1], "x" + cookie, cookie.replace(".", ""), "", ".", "\u00e9.\u00e9"):
        assert unseal(b"secret", changed) is None
