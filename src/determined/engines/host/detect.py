"""Devices that a machine offers as slots: NVIDIA, ROCm, CPU, artificial (docs/architecture/task_environment.md)."""

import logging
import os
import platform
import subprocess
import uuid
from collections.abc import Callable, Sequence
from enum import StrEnum

import msgspec

from determined.engines.model import Device, Slot
from determined.errors import InvalidArgument, Unavailable

logger = logging.getLogger(__name__)

_QUERY_SECONDS = 30  # a first query may have to wake the driver
_NVIDIA = ("nvidia-smi", "--query-gpu=index,uuid,name", "--format=csv,noheader")
_ROCM = ("rocm-smi", "--showuniqueid", "--showproductname", "--json")
_NAMESPACE = uuid.UUID("5d4f8a4e-9a0c-4d0e-8f43-6f7c1b0a2d11")

Query = Callable[[Sequence[str]], str | None]


class SlotType(StrEnum):
    AUTO = "auto"
    CUDA = "cuda"
    GPU = "gpu"  # older name of cuda
    ROCM = "rocm"
    CPU = "cpu"
    NONE = "none"


def slot_type(text: str) -> SlotType:
    """Return the type a config names."""
    try:
        return SlotType(text)
    except ValueError as e:
        raise InvalidArgument(f"slot_type={text!r} is unknown; use one of {', '.join(SlotType)}") from e


def query(command: Sequence[str]) -> str | None:
    """Return what a vendor's tool prints; None when it is not installed or finds no driver."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_QUERY_SECONDS, check=False)
    except (FileNotFoundError, PermissionError):
        return None
    except subprocess.TimeoutExpired:
        logger.warning("%s did not answer in %s s; its devices are not offered", command[0], _QUERY_SECONDS)
        return None
    if done.returncode:
        text = (done.stderr or done.stdout).strip()
        logger.warning("%s failed with status %s; its devices are not offered: %s", command[0], done.returncode, text)
        return None
    return done.stdout


def detect(
    node_id: str,
    kind: SlotType,
    *,
    artificial: int | None = None,
    visible: str | None = None,
    ask: Query = query,
) -> tuple[Slot, ...]:
    """Return the slots of a node. Blocks while tools are asked.

    Args:
        node_id: artificial and CPU slots get ids that stay the same for the same node.
        kind: what to look for; auto is NVIDIA, else ROCm, else one slot that stands for all CPUs.
        artificial: this many CPU slots instead, whatever the machine has.
        visible: what CUDA_VISIBLE_DEVICES (or ROCR_VISIBLE_DEVICES) says, None for everything.
        ask: runs a vendor's tool.

    Raises:
        Unavailable: a GPU type was asked for by name and the machine shows none.
    """
    if artificial is not None:
        return tuple(_cpu_slot(node_id, i, "artificial slot") for i in range(artificial))
    match kind:
        case SlotType.NONE:
            return ()
        case SlotType.CPU:
            return (_cpu_slot(node_id, 0, _cpu_brand()),)
        case SlotType.AUTO:
            return _only(_nvidia(ask), visible) or _only(_rocm(ask), visible) or (_cpu_slot(node_id, 0, _cpu_brand()),)
    devices = _only(_rocm(ask) if kind is SlotType.ROCM else _nvidia(ask), visible)
    if not devices:
        raise Unavailable(
            f"slot_type={kind} was asked for node '{node_id}', but no such device is visible here"
            f" (visible devices: {'all' if visible is None else repr(visible)}); use auto or cpu"
        )
    return devices


def count_gpus(visible: str | None, *, ask: Query = query) -> int:
    """Return how many GPUs `detect` would offer as slots. Blocks while tools are asked."""
    return len(_only(_nvidia(ask), visible) or _only(_rocm(ask), visible))


def _nvidia(ask: Query) -> tuple[Slot, ...]:
    rows = [line.split(",", 2) for line in (ask(_NVIDIA) or "").splitlines() if line.count(",") >= 2]
    return tuple(Slot(int(index), Device.CUDA, uid.strip(), brand.strip()) for index, uid, brand in rows)


def _rocm(ask: Query) -> tuple[Slot, ...]:
    text = ask(_ROCM)
    if not text:
        return ()
    try:
        cards = msgspec.json.decode(text, type=dict[str, dict[str, str]])
    except msgspec.DecodeError as e:
        logger.warning("rocm-smi printed no JSON; its devices are not offered: %s", e)
        return ()
    devices = []
    for name, card in cards.items():
        number = name.removeprefix("card")
        if number != name and number.isdecimal():
            devices.append(Slot(int(number), Device.ROCM, card.get("Unique ID", name), _rocm_brand(card)))
    return tuple(sorted(devices, key=lambda slot: slot.id))


def _rocm_brand(card: dict[str, str]) -> str:
    # The tool's releases spell this key in two ways.
    return card.get("Card Series") or card.get("Card series") or ""


def _only(slots: tuple[Slot, ...], visible: str | None) -> tuple[Slot, ...]:
    """Apply CUDA's rule: indices or UUID prefixes; the first entry that names no device hides itself and the rest."""
    if visible is None:
        return slots
    chosen: list[Slot] = []
    for entry in visible.split(","):
        slot = _named(slots, entry.strip())
        if slot is None:
            break
        if slot not in chosen:
            chosen.append(slot)
    return tuple(sorted(chosen, key=lambda slot: slot.id))


def _named(slots: tuple[Slot, ...], entry: str) -> Slot | None:
    if entry.isdecimal():
        return next((slot for slot in slots if slot.id == int(entry)), None)
    return next((slot for slot in slots if entry and slot.uuid.startswith(entry)), None)


def _cpu_slot(node_id: str, index: int, brand: str) -> Slot:
    return Slot(index, Device.CPU, str(uuid.uuid5(_NAMESPACE, f"{node_id}/{index}")), brand)


def _cpu_brand() -> str:
    return f"{platform.processor() or platform.machine()} x {os.cpu_count() or 1}"
