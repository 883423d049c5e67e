"""What a browser gets under /det/."""

from typing import Any


def test_a_printed_address_names_the_command_that_shows_it(master: Any) -> None:
    answer = master.anonymous.get("/det/experiments/7")
    assert answer.status == 200
    assert b"det experiment describe 7" in answer.raw


def test_a_hostile_path_is_shown_as_text(master: Any) -> None:
    answer = master.anonymous.get("/det/%3Cscript%3Ealert(1)%3C/script%3E")
    assert answer.status == 200
    assert b"<script>" not in answer.raw
