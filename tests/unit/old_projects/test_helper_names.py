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
