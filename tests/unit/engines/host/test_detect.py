"""Which slots a machine offers."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from determined.engines.host.detect import Query, SlotType, count_gpus, detect, query, slot_type
from determined.engines.model import Device, Slot
from determined.errors import InvalidArgument, Unavailable

NVIDIA = "0, GPU-aaa1, NVIDIA H200\n1, GPU-bbb2, NVIDIA H200\n2, GPU-ccc3, NVIDIA A100, 80GB\n"
ROCM = json.dumps(
    {
        "card1": {"Unique ID": "0xb", "Card series": "MI250"},
        "card0": {"Unique ID": "0xa", "Card Series": "MI300"},
        "system": {"Driver version": "6"},
    }
)


def machine(**outputs: str) -> Query:
    """A machine whose tools print `outputs`; others are not installed."""

    def ask(command: Sequence[str]) -> str | None:
        return outputs.get(command[0].replace("-", "_"))

    return ask


BARE = machine()
GPUS = machine(nvidia_smi=NVIDIA)


def ids(slots: tuple[Slot, ...]) -> list[int]:
    return [slot.id for slot in slots]


def test_nvidia_devices_are_found_with_uuid_and_name() -> None:
    slots = detect("n", SlotType.AUTO, ask=GPUS)
    assert slots[0] == Slot(0, Device.CUDA, "GPU-aaa1", "NVIDIA H200")
    assert slots[2] == Slot(2, Device.CUDA, "GPU-ccc3", "NVIDIA A100, 80GB")


def test_auto_takes_nvidia_before_rocm_and_rocm_before_cpu() -> None:
    both = machine(nvidia_smi=NVIDIA, rocm_smi=ROCM)
    assert {slot.device for slot in detect("n", SlotType.AUTO, ask=both)} == {Device.CUDA}
    assert detect("n", SlotType.AUTO, ask=machine(rocm_smi=ROCM)) == (
        Slot(0, Device.ROCM, "0xa", "MI300"),
        Slot(1, Device.ROCM, "0xb", "MI250"),
    )


def test_machine_without_gpus_offers_one_slot_for_all_cpus() -> None:
    (slot,) = detect("n", SlotType.AUTO, ask=BARE)
    assert (slot.id, slot.device) == (0, Device.CPU)
    assert detect("n", SlotType.CPU, ask=GPUS) == (slot,)


def test_artificial_slots_win_and_keep_their_ids() -> None:
    slots = detect("n", SlotType.AUTO, artificial=3, ask=GPUS)
    assert ids(slots) == [0, 1, 2]
    assert {slot.device for slot in slots} == {Device.CPU}
    assert slots == detect("n", SlotType.AUTO, artificial=3, ask=BARE)
    assert not {s.uuid for s in slots} & {s.uuid for s in detect("m", SlotType.AUTO, artificial=3)}


def test_gpus_that_artificial_slots_replace_are_counted() -> None:
    assert (count_gpus(None, ask=GPUS), count_gpus("1", ask=GPUS), count_gpus(None, ask=BARE)) == (3, 1, 0)
    assert count_gpus(None, ask=machine(rocm_smi=ROCM)) == 2


def test_none_offers_nothing() -> None:
    assert detect("n", SlotType.NONE, ask=GPUS) == ()
    assert detect("n", SlotType.AUTO, artificial=0, ask=GPUS) == ()


@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        (None, [0, 1, 2]),
        ("1", [1]),
        ("2,0", [0, 2]),
        ("GPU-bbb2,0", [0, 1]),
        ("GPU-c", [2]),
        ("0,7,1", [0]),
        ("1,1", [1]),
    ],
)
def test_only_visible_devices_are_offered(visible: str | None, expected: list[int]) -> None:
    assert ids(detect("n", SlotType.CUDA, visible=visible, ask=GPUS)) == expected


@pytest.mark.parametrize("visible", ["", "-1", "NoDevFiles"])
def test_hidden_gpus_leave_the_cpu(visible: str) -> None:
    (slot,) = detect("n", SlotType.AUTO, visible=visible, ask=GPUS)
    assert slot.device is Device.CPU


@pytest.mark.parametrize("kind", [SlotType.CUDA, SlotType.GPU, SlotType.ROCM])
def test_gpus_asked_for_by_name_must_exist(kind: SlotType) -> None:
    with pytest.raises(Unavailable, match=f"slot_type={kind} was asked for node 'n'"):
        detect("n", kind, ask=BARE)


def test_gpu_is_the_older_name_of_cuda() -> None:
    assert detect("n", SlotType.GPU, ask=GPUS) == detect("n", SlotType.CUDA, ask=GPUS)


def test_unreadable_rocm_output_offers_nothing(caplog: pytest.LogCaptureFixture) -> None:
    (slot,) = detect("n", SlotType.AUTO, ask=machine(rocm_smi="WARNING: no device"))
    assert slot.device is Device.CPU
    assert "rocm-smi printed no JSON" in caplog.text


def test_failing_tool_is_said_and_its_devices_are_not_offered(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho driver mismatch >&2\nexit 9\n")
    tool.chmod(0o755)
    assert query([str(tool)]) is None
    assert "driver mismatch" in caplog.text


def test_missing_tool_is_no_news(caplog: pytest.LogCaptureFixture) -> None:
    assert query(["no-such-tool-anywhere"]) is None
    assert caplog.text == ""


def test_tools_output_is_what_it_prints(tmp_path: Path) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 0, GPU-x, name\n")
    tool.chmod(0o755)
    assert query([str(tool)]) == "0, GPU-x, name\n"


def test_unknown_slot_type_names_the_known_ones() -> None:
    assert slot_type("rocm") is SlotType.ROCM
    with pytest.raises(InvalidArgument, match="slot_type='tpu' is unknown; use one of auto, cuda"):
        slot_type("tpu")
