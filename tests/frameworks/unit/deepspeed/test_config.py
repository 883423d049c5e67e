"""overwrite_deepspeed_config: files and dicts, merged at any depth."""

import copy
from pathlib import Path
from typing import Any

import pytest

from determined.pytorch.deepspeed import overwrite_deepspeed_config

BASE: dict[str, Any] = {"optimizer": {"type": "Adam", "params": {"lr": 0.1, "eps": 1e-8}}, "train_batch_size": 8}


def test_values_are_replaced_at_any_depth_and_the_rest_stays() -> None:
    merged = overwrite_deepspeed_config(BASE, {"optimizer": {"params": {"lr": 0.5}}, "fp16": {"enabled": True}})
    assert merged["optimizer"] == {"type": "Adam", "params": {"lr": 0.5, "eps": 1e-8}}
    assert (merged["train_batch_size"], merged["fp16"]) == (8, {"enabled": True})


def test_inputs_are_left_as_they_are() -> None:
    base, source = copy.deepcopy(BASE), {"optimizer": {"params": {"betas": [0.9, 0.99]}}}
    merged = overwrite_deepspeed_config(base, source)
    merged["optimizer"]["params"]["betas"].append(1)
    merged["optimizer"]["type"] = "SGD"
    assert (base, source) == (BASE, {"optimizer": {"params": {"betas": [0.9, 0.99]}}})


@pytest.mark.parametrize("before", ["auto", None, 3, [1]])
def test_section_replaces_what_is_none(before: Any) -> None:
    assert overwrite_deepspeed_config({"fp16": before}, {"fp16": {"enabled": True}}) == {"fp16": {"enabled": True}}


def test_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "ds.json").write_text('{"zero_optimization": {"stage": 1, "overlap_comm": false}}')
    merged = overwrite_deepspeed_config(str(tmp_path / "ds.json"), {"zero_optimization": {"stage": 3}})
    assert merged == {"zero_optimization": {"stage": 3, "overlap_comm": False}}


def test_file_with_a_key_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ds.json").write_text('{"a": {"lr": 1, "lr": 2}}')
    with pytest.raises(ValueError, match=r"ds\.json has the key 'lr' twice"):
        overwrite_deepspeed_config(str(tmp_path / "ds.json"), {})


def test_file_that_is_no_json_is_named(tmp_path: Path) -> None:
    (tmp_path / "ds.json").write_text('{"fp16": {"enabled": True}}')
    with pytest.raises(ValueError, match=r"ds\.json is not JSON: Expecting value: line 1 column 22"):
        overwrite_deepspeed_config(str(tmp_path / "ds.json"), {})


@pytest.mark.parametrize("base", [3, None, [("a", 1)]])
def test_other_types_are_refused(base: Any) -> None:
    with pytest.raises(TypeError, match="as base; pass the path of a JSON file"):
        overwrite_deepspeed_config(base, {})


def test_values_must_be_a_dict() -> None:
    with pytest.raises(TypeError, match="of values to replace; pass a dict"):
        overwrite_deepspeed_config({}, "lr=0.1")  # type: ignore[arg-type]
