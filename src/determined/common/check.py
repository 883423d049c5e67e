"""Upstream's `determined.common.check`: assertions with a reason."""

import operator
from collections.abc import Callable
from typing import Any


class CheckFailedError(Exception):
    """A check did not hold."""


def _binary(holds: Callable[[Any, Any], bool], words: str) -> Callable[..., None]:
    def check(x: Any, y: Any, reason: str | None = None) -> None:
        if not holds(x, y):
            raise CheckFailedError(f"CHECK FAILED! {x!r} {words} {y!r}" + (f": {reason}" if reason else ""))

    return check


def _unary(holds: Callable[[Any], bool], words: str) -> Callable[..., None]:
    def check(val: Any, reason: str | None = None) -> None:
        if not holds(val):
            raise CheckFailedError(f"CHECK FAILED! {val!r} {words}" + (f": {reason}" if reason else ""))

    return check


true = check_true = _unary(bool, "is not true")
false = check_false = _unary(operator.not_, "is not false")
is_none = check_none = _unary(lambda val: val is None, "is not None")
is_not_none = check_not_none = _unary(lambda val: val is not None, "is None")
eq = check_eq = _binary(operator.eq, "is not")
not_eq = check_not_eq = _binary(operator.ne, "is")
gt = check_gt = _binary(operator.gt, "is not greater than")
gt_eq = check_gt_eq = _binary(operator.ge, "is less than")
lt = check_lt = _binary(operator.lt, "is not less than")
lt_eq = check_lt_eq = _binary(operator.le, "is greater than")
equal_lengths = check_eq_len = _binary(lambda x, y: len(x) == len(y), "is not as long as")
len_eq = check_len = _binary(lambda val, length: len(val) == length, "has not the length")
is_in = check_in = _binary(lambda val, expected: val in expected, "is not one of")
not_in = check_not_in = _binary(lambda val, expected: val not in expected, "is one of")
is_type = check_type = _binary(lambda val, expected: type(val) is expected, "is not exactly of type")
is_instance = check_isinstance = _binary(isinstance, "is no instance of")
is_not_instance = check_not_isinstance = _binary(
    lambda val, expected: not isinstance(val, expected), "is an instance of"
)
is_subclass = check_issubclass = _binary(issubclass, "is no subclass of")
