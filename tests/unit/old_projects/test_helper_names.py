"""Helpers that scripts of past releases import do what they did."""

import importlib
import io
import sys
import types
from typing import Any

import pytest

import determined as det
from determined import util
from determined.common import check
from determined.common import util as common_util


def test_dicts_are_merged_into_a_copy() -> None:
    base = {"a": {"b": 1, "c": 2}, "d": 3}
    assert util.merge_dicts(base, {"a": {"b": 9}, "d": {"e": 4}}) == {"a": {"b": 9, "c": 2}, "d": {"e": 4}}
    assert base == {"a": {"b": 1, "c": 2}, "d": 3}


def test_a_blob_is_read_again_until_it_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)

    class Blob:
        failures = 2

        def download_as_string(self) -> bytes:
            self.failures -= 1
            if self.failures >= 0:
                raise ConnectionError("reset")
            return b"data"

    assert util.download_gcs_blob_with_backoff(Blob()) == b"data"
    assert len(waits) == 2
    with pytest.raises(RuntimeError, match="in 1 tries"):
        util.download_gcs_blob_with_backoff(Blob(), n_retries=1)


def test_overridden_methods_and_parameters_are_found() -> None:
    class Parent:
        def hook(self, a: int) -> None: ...

        def other(self) -> None: ...

    class Child(Parent):
        def hook(self, a: int) -> None: ...

    assert util.is_overridden(Child().hook, Parent) and not util.is_overridden(Child().other, Parent)
    assert util.has_param(Child().hook, "a") and not util.has_param(Child().other, "a")
    assert util.get_member_func(Child(), "none") is None


def test_yaml_is_read_or_ends_the_program_with_the_place() -> None:
    assert common_util.safe_load_yaml_with_exceptions("a: 1") == {"a": 1}
    assert common_util.yaml_safe_load(io.StringIO(common_util.yaml_safe_dump({"a": [1]}))) == {"a": [1]}
    with pytest.raises(SystemExit, match=r"(?s)is not valid YAML.*line 1"):
        common_util.safe_load_yaml_with_exceptions("a: [")


def test_checks_say_what_failed() -> None:
    check.eq(1, 1)
    check.is_in("a", ["a"])
    with pytest.raises(check.CheckFailedError, match="1 is not 2: counts"):
        check.check_eq(1, 2, "counts")


@pytest.mark.parametrize(
    ("name", "held", "failed", "said"),
    [
        ("true", (1,), (0,), "0 is not true"),
        ("false", ("",), ("x",), "'x' is not false"),
        ("is_none", (None,), (0,), "0 is not None"),
        ("is_not_none", (0,), (None,), "None is None"),
        ("not_eq", (1, 2), (1, 1), "1 is 1"),
        ("gt", (2, 1), (1, 1), "1 is not greater than 1"),
        ("gt_eq", (1, 1), (0, 1), "0 is less than 1"),
        ("lt", (0, 1), (1, 1), "1 is not less than 1"),
        ("lt_eq", (1, 1), (2, 1), "2 is greater than 1"),
        ("equal_lengths", ("ab", [1, 2]), ("a", []), "'a' is not as long as"),
        ("len_eq", ("ab", 2), ("ab", 3), "'ab' has not the length 3"),
        ("not_in", (1, [2]), (2, [2]), "2 is one of"),
        ("is_type", (True, bool), (True, int), "True is not exactly of type"),
        ("is_instance", (True, int), ("x", int), "'x' is no instance of"),
        ("is_not_instance", ("x", int), (True, int), "True is an instance of"),
        ("is_subclass", (bool, int), (str, int), "is no subclass of"),
    ],
)
def test_each_check_passes_or_tells_its_values_and_the_reason(
    name: str, held: tuple[Any, ...], failed: tuple[Any, ...], said: str
) -> None:
    getattr(check, name)(*held)
    getattr(check, name)(*held, reason="unused")
    with pytest.raises(check.CheckFailedError) as told:
        getattr(check, name)(*failed, reason="why")
    assert said in str(told.value) and str(told.value).endswith(": why")


def test_a_condition_is_looked_at_at_least_once_and_then_until_the_time_is_up() -> None:
    assert common_util.wait_for(lambda: (True, "value"), timeout=0) == "value"
    answers = iter([(False, None), (False, None), (True, 7)])
    assert common_util.wait_for(lambda: next(answers), interval=0) == 7

    def never() -> tuple[bool, None]:
        return False, None

    with pytest.raises(TimeoutError, match="waited 0 seconds for never"):
        common_util.wait_for(never, timeout=0)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0.0B"), (1023, "1023.0B"), (1024, "1.0KB"), (1536, "1.5KB"), (2**30, "1.0GB"), (-2048, "-2.0KB"),
     (2**80, "1024.0ZB")],
)  # fmt: skip
def test_sizes_are_written_for_people(size: int, text: str) -> None:
    assert common_util.sizeof_fmt(size) == text


def test_a_sequence_is_cut_into_parts_the_last_of_which_may_be_short() -> None:
    assert list(common_util.chunks([1, 2, 3, 4, 5], 2)) == [[1, 2], [3, 4], [5]]
    assert list(common_util.chunks("", 3)) == []


def test_tokens_lie_where_det_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DET_DEBUG_CONFIG_PATH", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/x")
    assert str(common_util.get_config_path()) == "/x/determined"
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", "/h")
    assert str(common_util.get_config_path()) == "/h/.config/determined"


def test_the_package_of_the_first_releases_is_the_same() -> None:
    experimental = importlib.import_module("determined_common.experimental")
    assert experimental.Determined is importlib.import_module("determined.experimental").Determined
    assert importlib.import_module("determined_common.check").eq is check.eq
    assert importlib.import_module("determined_common.api.errors").NotFoundException is det.errors.NotFound


def test_horovod_is_that_of_the_framework_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    from determined.horovod import _Horovod

    fake: Any = types.ModuleType("horovod.torch")
    fake.rank = lambda: 3
    monkeypatch.setitem(sys.modules, "horovod", types.ModuleType("horovod"))
    monkeypatch.setitem(sys.modules, "horovod.torch", fake)
    hvd: Any = _Horovod()
    hvd.require_horovod_type("torch", "PyTorchTrial")
    assert hvd.rank() == 3
    with pytest.raises(ValueError, match="one per process"):
        hvd.require_horovod_type("tensorflow", "a second one")


def test_every_part_is_reached_from_a_plain_import() -> None:
    assert det.experimental.client is importlib.import_module("determined.experimental.client")  # type: ignore[attr-defined]
    assert det.pytorch.PyTorchTrial is importlib.import_module("determined.pytorch").PyTorchTrial  # type: ignore[attr-defined]
