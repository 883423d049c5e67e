"""Log policies: the fast look at a batch never misses what a look at each line would find."""

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from determined.config import LogPolicy
from determined.constants import CONFIG_LINE_PREFIX
from determined.master.services.log_policy import compile_policies, find


def policy(pattern: str | None, **more: Any) -> LogPolicy:
    return LogPolicy.load({"name": "p", "pattern": pattern, **more})


def matches(pattern: str, texts: list[str]) -> bool:
    return bool(find(compile_policies([policy(pattern)]), texts))


@pytest.mark.parametrize(
    ("pattern", "texts", "hit"),
    [
        (".*CUDA out of memory.*", ["a", "RuntimeError: CUDA out of memory. Tried"], True),
        (".*CUDA out of memory.*", ["CUDA out", "of memory"], False),
        ("^start", ["x start", "start y"], True),
        ("^start", ["x start"], False),
        ("end$", ["the end", "x"], True),
        ("end$", ["ends", "x"], False),
        ("\\Aonly", ["x", "only"], True),
        ("only\\z", ["only", "x"], True),
        ("a\\sb", ["a", "b"], False),
        ("a[^x]b", ["a", "b"], False),
        ("ab\\.*", ["ab"], True),
        (".*", [""], True),
        (".*?oops", ["oops"], True),
        ("(?i)OOM", ["oom"], True),
        ("größe", ["die größe"], True),
        ("a|b.*", ["b"], True),
    ],
)
def test_a_pattern_looks_at_single_lines(pattern: str, texts: list[str], hit: bool) -> None:
    assert matches(pattern, texts) is hit


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    pattern=st.from_regex(r"\A(\.\*)?[\^]?[ab]{1,2}(\.\*|\$|[ab]\??)?(\|b+)?\Z"),
    texts=st.lists(st.text(alphabet="ab \n".replace("\n", ""), max_size=5), min_size=1, max_size=6),
)
def test_a_batch_matches_exactly_when_one_of_its_lines_does(pattern: str, texts: list[str]) -> None:
    assert matches(pattern, texts) is any(re.search(pattern, text) for text in texts)


def test_the_printed_config_is_not_looked_at() -> None:
    policies = compile_policies([policy("out of memory")])
    assert find(policies, [CONFIG_LINE_PREFIX + "pattern: out of memory"]) == []
    (match,) = find(policies, [CONFIG_LINE_PREFIX + "out of memory", "really out of memory"])
    assert (match.index, match.text) == (1, "really out of memory")


def test_a_policy_without_a_pattern_is_off() -> None:
    assert compile_policies([policy(None)]) == ()


def test_the_last_matching_line_decides_about_the_label() -> None:
    policies = compile_policies([LogPolicy(name="one", pattern="1"), LogPolicy(name="two", pattern="2")])
    found = find(policies, ["2", "1", "x"])
    assert max(found, key=lambda m: m.index).policy.name == "one"
