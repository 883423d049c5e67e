"""Who counts as silent, and when that is told."""

from determined.exec.runner.hang_rule import Alarm, HangRule


def heard(rule: HangRule, *moments: tuple[float, dict[int, int], int]) -> list[Alarm | None]:
    return [rule.observe(now, ranks, others) for now, ranks, others in moments]


def test_a_task_that_says_nothing_at_all_is_told_once() -> None:
    rule = HangRule(limit=10, began=0)
    alarms = heard(rule, (5, {}, 0), (10, {}, 0), (11, {}, 0), (60, {}, 0))
    assert alarms == [None, Alarm(True, 10, ()), None, None]


def test_any_sign_starts_the_count_again() -> None:
    rule = HangRule(limit=10, began=0)
    alarms = heard(rule, (9, {}, 1), (18, {0: 1}, 1), (27, {0: 1}, 2), (36, {0: 1}, 2), (37, {0: 1}, 2))
    assert alarms[:4] == [None] * 4
    assert alarms[4] == Alarm(True, 10, ((0, 19),))


def test_ranks_are_named_with_the_longest_silence_first() -> None:
    rule = HangRule(limit=10, began=0)
    [*_, alarm] = heard(rule, (1, {0: 1, 1: 1}, 0), (4, {0: 2, 1: 1}, 0), (14, {0: 2, 1: 1}, 0))
    assert alarm == Alarm(True, 10, ((1, 13), (0, 10)))


def test_a_rank_that_stops_while_another_goes_on_is_told_once() -> None:
    rule = HangRule(limit=10, began=0)
    for second in range(1, 4):
        assert rule.observe(second, {0: second, 1: second}, 0) is None
    alarms = [rule.observe(second, {0: second, 1: 3}, 0) for second in range(4, 60)]
    assert [alarm for alarm in alarms if alarm] == [Alarm(False, 0, ((1, 10),))]


def test_a_rank_without_a_rhythm_is_not_missed_while_others_go_on() -> None:
    rule = HangRule(limit=10, began=0)
    assert not any(rule.observe(second, {0: second, 1: 1}, 0) for second in range(1, 60))


def test_two_ranks_that_stop_shortly_after_each_other_are_one_silence() -> None:
    rule = HangRule(limit=10, began=0)
    for second in range(1, 4):
        rule.observe(second, {0: second, 1: second}, 0)
    rule.observe(4, {0: 4, 1: 3}, 0)
    alarms = [rule.observe(now / 2, {0: 4, 1: 3}, 0) for now in range(9, 60)]
    assert [alarm for alarm in alarms if alarm] == [Alarm(True, 10, ((1, 11), (0, 10)))]


def test_one_that_was_only_slow_gets_twice_that_time() -> None:
    rule = HangRule(limit=10, began=0)
    assert rule.observe(10, {}, 0) is not None
    rule.observe(15, {}, 1)  # it was silent for 15
    alarms = {now: rule.observe(now, {}, 1) for now in (26, 44, 45)}
    assert alarms == {26: None, 44: None, 45: Alarm(True, 30, ())}


def test_a_rank_that_has_left_is_not_missed() -> None:
    rule = HangRule(limit=10, began=0)
    for second in range(1, 5):
        rule.observe(second, {0: second, 1: second}, 0)
    assert not any(rule.observe(second, {0: second}, 0) for second in range(5, 60))
