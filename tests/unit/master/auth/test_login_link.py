"""Codes of one-time links: once, for a minute, and never more than fit the memory."""

from datetime import UTC, datetime, timedelta

from determined.master.auth.login_link import LINK_LIFETIME, LoginLinks

NOW = datetime(2026, 11, 15, tzinfo=UTC)


def test_a_code_is_spent_by_its_first_use_and_names_who_asked_for_it() -> None:
    links = LoginLinks()
    code = links.issue(7, 3, NOW)
    found = links.redeem(code, NOW)
    assert found is not None
    assert (found.user_id, found.session_id) == (7, 3)
    assert links.redeem(code, NOW) is None


def test_a_code_that_came_too_late_is_spent_as_well() -> None:
    links = LoginLinks()
    code = links.issue(7, 3, NOW)
    assert links.redeem(code, NOW + LINK_LIFETIME) is None
    assert links.redeem(code, NOW) is None
    assert links.redeem(links.issue(7, 3, NOW), NOW + LINK_LIFETIME - timedelta(seconds=1)) is not None


def test_codes_are_kept_only_as_digests() -> None:
    links = LoginLinks()
    code = links.issue(7, 3, NOW)
    assert code not in repr(vars(links))


def test_asking_for_links_without_end_forgets_the_oldest() -> None:
    links = LoginLinks()
    first = links.issue(1, 1, NOW)
    codes = [links.issue(1, 1, NOW) for _ in range(1_000)]
    assert links.redeem(first, NOW) is None
    assert links.redeem(codes[0], NOW) is not None
