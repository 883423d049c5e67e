"""Searches in logs over HTTP: patterns that other engines never finish, filters combined, pages that meet."""

from typing import Any

from tracked import Tracked, one

from determined.wire.report import LogLine

# Patterns, and whether they match a line of many `a`.
ENDLESS = {"(a+)+$": True, "(a|aa)+$": True, "(.*a){20}$": True, "(a*)*b": False, "^(([a-z])+.)+[A-Z]([a-z])+$": False}


def texts(client: Any, trial: Tracked, **fields: Any) -> list[str]:
    found = client.lines(f"/api/v1/tasks/{trial.task_id}/logs", fields={"sources": "task"} | fields)
    return [line["result"]["log"] for line in found]


def test_a_pattern_that_backtracks_for_ever_elsewhere_is_answered(trial: Tracked, admin: Any) -> None:
    trial.send(*(LogLine("a" * 4000 + "!", 1.0) for _ in range(20)), LogLine("a" * 50, 1.0), source="logs")
    for pattern, matches in ENDLESS.items():
        found = texts(admin, trial, searchText=pattern, enableRegex="true")
        assert found == (["a" * 50] if matches else []), pattern


def test_a_log_policy_that_backtracks_for_ever_elsewhere_holds_up_no_report(submit_trial: Any, admin: Any) -> None:
    policies = [{"name": f"p{n}", "pattern": pattern} for n, pattern in enumerate(ENDLESS)]
    trial = submit_trial(log_policies=[*policies, {"name": "hit", "pattern": "OOM"}])
    trial.send(*(LogLine("a" * 4000 + "!", 1.0) for _ in range(20)), LogLine("OOM", 1.0), source="logs")
    assert one(trial.master, f"SELECT log_policy_label FROM trials WHERE id = {trial.trial_id}") == "hit"


def test_a_pattern_that_cannot_be_read_is_told_with_what_is_wrong(trial: Tracked, admin: Any) -> None:
    for pattern in ("(", "[a", "a{2,1}", "\\", "(?<=a)b", "*", "a{1001}", "\\1"):
        fields = {"searchText": pattern, "enableRegex": "true"}
        for path in (f"/api/v1/tasks/{trial.task_id}/logs", f"/api/v1/trials/{trial.trial_id}/logs"):
            answer = admin.get(path, fields=fields)
            assert answer.status == 400, pattern
            assert f"searchText={pattern!r} is not a valid RE2 pattern: " in answer.message
        assert texts(admin, trial, searchText=pattern) == [], "as plain text it means itself"


PATTERNS = {
    "größe": ["Die größe"],
    "(?i)GRÖSSE|GRÖßE": ["Die größe"],
    "^.{9}$": ["Die größe"],
    "🚀$": ["gestartet 🚀"],
    "\\p{Han}+": ["学習"],
    "^$": [""],
    "\\d{3}%": ["100%"],
}


def test_patterns_are_of_characters_and_not_of_bytes(trial: Tracked, admin: Any) -> None:
    lines = ["Die größe", "gestartet 🚀", "学習", "", "100%"]
    trial.send(*(LogLine(text, 1.0) for text in lines), source="logs")
    for pattern, found in PATTERNS.items():
        assert texts(admin, trial, searchText=pattern, enableRegex="true") == found, pattern


def test_plain_text_is_found_whatever_the_case_and_no_sign_of_it_has_a_meaning(trial: Tracked, admin: Any) -> None:
    lines = ["Die GRÖSSE", "Größe", "100%", "a_b", ".* regex", "🚀", 'say "x"', "\\d", "nothing else"]
    trial.send(*(LogLine(line, 1.0) for line in lines), source="logs")
    for text in ("GRÖSSE", "größe", "100%", "_", ".*", "🚀", '"', "\\d"):
        assert texts(admin, trial, searchText=text) == [line for line in lines if text.lower() in line.lower()], text


def test_pages_by_id_meet_without_a_gap_whatever_the_filter(trial: Tracked, admin: Any) -> None:
    levels = [None, "INFO", "ERROR"]
    for start in range(0, 1500, 250):
        batch = range(start, start + 250)
        trial.send(*(LogLine(f"n{n}", 1.0, level=levels[n % 3], rank=n % 2) for n in batch), source="logs")
    path = f"/api/v1/trials/{trial.trial_id}/logs"
    wanted = {"sources": "task", "levels": "LOG_LEVEL_ERROR", "rankIds": 1, "limit": 40}
    seen: list[str] = []
    last: str | None = None
    for _ in range(100):
        after = {} if last is None else {"afterId": last}
        page = [line["result"] for line in admin.lines(path, fields=wanted | after)]
        seen += [line["log"] for line in page]
        if len(page) < 40:
            break
        last = page[-1]["id"]
    assert seen == [f"n{n}" for n in range(1500) if n % 3 == 2 and n % 2 == 1]
    backwards = wanted | {"orderBy": "ORDER_BY_DESC", "limit": 1000}
    assert [line["result"]["log"] for line in admin.lines(path, fields=backwards)] == seen[::-1]


BOUNDS: list[tuple[dict[str, str], int, int]] = [
    ({"timestampAfter": "10"}, 11, 59),
    ({"timestampAfter": "1970-01-01T00:00:10Z", "timestampBefore": "1970-01-01T00:00:20Z"}, 11, 20),
    ({"timestampAfter": "1970-01-01T05:30:10+05:30"}, 11, 59),
    ({"timestampBefore": "1970-01-01T00:00:09.999999Z"}, 0, 9),
    ({"timestampAfter": "59"}, 60, 59),
]


def test_times_bound_a_log_in_any_zone(trial: Tracked, admin: Any) -> None:
    trial.send(*(LogLine(str(n), float(n)) for n in range(60)), source="logs")
    for fields, first, last in BOUNDS:
        assert texts(admin, trial, **fields) == [str(n) for n in range(first, last + 1)], fields
