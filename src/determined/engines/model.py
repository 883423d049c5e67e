"""Plain data of engines: what one offers and what it is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from determined.wire.report import TaskSpec


class Device(StrEnum):
    CPU = "cpu"
    CUDA = "cuda"
    ROCM = "rocm"


@dataclass(frozen=True, slots=True)
class Slot:
    """Schedulable device of a node. `id` is its index on the node, as in CUDA_VISIBLE_DEVICES."""

    id: int
    device: Device
    uuid: str
    brand: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """Machine (or a part of one) as its engine sees it. Enabling, disabling and draining are the master's."""

    id: str
    pool: str
    slots: tuple[Slot, ...]
    max_aux: int = 100
    addresses: tuple[str, ...] = ("127.0.0.1",)
    version: str = ""
    also_pools: tuple[str, ...] = ()  # pools that share it: an engine's partitions may overlap


@dataclass(frozen=True, slots=True)
class RunAs:
    """The OS identity of a task; None fields mean the identity of the engine itself."""

    user: str | None = None
    uid: int | None = None
    group: str | None = None
    gid: int | None = None


@dataclass(frozen=True, slots=True)
class Mount:
    """A directory or file of the host inside a container."""

    source: str
    target: str
    read_only: bool = False
    propagation: str = "rprivate"


@dataclass(frozen=True, slots=True)
class DeviceNode:
    """A device file of the host inside a container; `mode`: of r, w and m (mknod)."""

    source: str
    target: str
    mode: str = "mrw"


@dataclass(frozen=True, slots=True)
class Container:
    """Container that a task asks for, for an engine that runs it in one.

    A relative mount target lies under its working directory.
    """

    image: str | None = None
    force_pull: bool = False
    registry_auth: Mapping[str, Any] | None = field(default=None, repr=False)
    add_capabilities: tuple[str, ...] = ()
    drop_capabilities: tuple[str, ...] = ()
    mounts: tuple[Mount, ...] = ()
    shared_fs: Mount | None = None  # its checkpoint storage, made where it is missing
    shm_bytes: int | None = None
    devices: tuple[DeviceNode, ...] = ()
    ports: tuple[int, ...] = ()
    network: str | None = None
    variables: tuple[str, ...] = ()  # NAME=VALUE: what the container runtime itself reads (NVIDIA_*)


@dataclass(frozen=True, slots=True)
class Launch:
    """Start of one runner: everything an engine needs. The runner fetches the rest from the master with `token`."""

    allocation_id: str
    resource_id: str
    container_id: str
    node_id: str
    rank: int
    slot_ids: tuple[int, ...]
    device: Device
    master_url: str
    token: str = field(repr=False)
    run_as: RunAs = field(default_factory=RunAs)
    master_cert_file: str | None = None
    master_cert_name: str | None = None
    ticket: str = field(
        default="", repr=False
    )  # what a runner started on another host shows the master, once, for its launch file
    size: int = 1  # runners of its allocation: an engine that can only start them together waits for the last
    options: Mapping[str, Any] = field(default_factory=dict)  # its section of the config (`slurm:`)
    container: Container | None = None  # None where the engine runs none
    group: str | None = None  # tasks that import the same packages, such as the trials of an experiment
    spec: TaskSpec | None = field(default=None, repr=False)  # for a runner on the master's machine; None: it asks
    context: bytes | None = field(default=None, repr=False)  # its packed context directory, where that is small
    begun: bool = False  # the master has reports of it: with its directory gone it is lost, and never begun again


class GoneReason(StrEnum):
    """Reason why a runner is no longer there."""

    EXITED = "exited"  # it drained its journals and left in good order; its exit record is on the master
    LOST = "lost"  # its node or process vanished before an exit record; transient
    NOT_STARTED = "not_started"  # the engine could not start it; transient
    CANCELED = "canceled"  # ended on purpose by others (scancel); not tried again


@dataclass(frozen=True, slots=True)
class RunnerGone:
    resource_id: str
    reason: GoneReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class NodesChanged:
    """The set of nodes or slots is not what `nodes()` said before."""


@dataclass(frozen=True, slots=True)
class RunnerNews:
    """Words for the log of a task whose runner cannot speak yet: what it waits for. They may be lost."""

    resource_id: str
    text: str


EngineEvent = RunnerGone | NodesChanged | RunnerNews
