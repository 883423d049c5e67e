"""Parameters and optimizer state that FSDP2 has spread over the ranks, saved by each rank and read by any number of
them. They lie in a directory of torch.distributed.checkpoint, each under its place in the trial's state as JSON."""

import copy
import json
import pickle
import warnings
from collections.abc import Callable
from enum import EnumType
from pathlib import Path, PosixPath, PurePosixPath
from typing import Any

import torch
from torch.distributed.checkpoint import state_dict_loader
from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
from torch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from torch.distributed.checkpoint.metadata import Metadata, MetadataIndex, StorageMeta, TensorStorageMetadata
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.distributed.tensor import empty as empty_dtensor

from determined import core
from determined._json import JsonObject
from determined.errors import UnsafeCheckpoint
from determined.pytorch._formats import SHARDS as DIRECTORY

# Keys and positions that lead to a tensor: ["models_state_dict", 0, "layer.weight"].
Place = list[str | int]
# The tensor whose distribution a tensor read for this place takes over; None for an ordinary one on the CPU.
Like = Callable[[Place], torch.Tensor | None]


def split(state: JsonObject) -> tuple[JsonObject, dict[str, DTensor]]:
    """The state with None in place of every distributed tensor, and these tensors by their place."""
    shards: dict[str, DTensor] = {}
    return _without_shards(state, [], shards), shards


def parts(shards: dict[str, DTensor]) -> dict[str, torch.Tensor]:
    """Return what this rank holds of each."""
    return {name: tensor.to_local().detach() for name, tensor in shards.items()}


def save(
    shards: dict[str, DTensor], values: dict[str, torch.Tensor], checkpoint: Path, ranks: core.DistributedContext
) -> None:
    """Write what each rank holds, on all ranks together.

    Args:
        shards: say which part of the whole this rank has; their values may change meanwhile.
        values: what `parts` returned, or copies of it.
        checkpoint: the checkpoint's directory.
        ranks: exchanges who writes what. With torch's own process group a thread beside the training would meet its
            collectives.
    """
    is_chief = ranks.rank == 0
    # The store flushes what it publishes as its own rules say; torch would wait for the disk after every file.
    writer, planner = FileSystemWriter(checkpoint / DIRECTORY, sync_files=False), _Planner(values)
    planner.set_up_planner(shards, storage_meta=writer.storage_meta(), is_coordinator=is_chief)
    writer.set_up_storage_writer(is_chief)
    local_plans = ranks.gather(writer.prepare_local_plan(planner.create_local_plan()))
    plans, index = None, None
    if local_plans is not None:
        global_plans, index = planner.create_global_plan(local_plans)
        plans = writer.prepare_global_plan(global_plans)
    plan = planner.finish_plan(ranks.broadcast(plans)[ranks.rank])
    written = ranks.gather(writer.write_data(plan, planner).wait())
    if written is not None and index is not None:
        writer.finish(index, written)


def load(state: JsonObject, checkpoint: Path, like: Like, key: str | None = None) -> None:
    """Put the tensors that lie in a checkpoint, or only those under one key of its state, back into the state.

    Every rank reads what it needs for itself: ranks may be more or fewer than those that saved.

    Raises:
        UnsafeCheckpoint: the index holds more than an index.
    """
    reader = _Reader(checkpoint / DIRECTORY)
    index = reader.read_metadata().state_dict_metadata
    places: dict[str, Place] = {name: json.loads(name) for name in index}
    chosen = {name: place for name, place in places.items() if key in (None, place[0])}
    tensors = {name: _empty(index[name], like(place)) for name, place in chosen.items()}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="torch.distributed is disabled")
        state_dict_loader.load(tensors, storage_reader=reader, no_dist=True)
    for name, tensor in tensors.items():
        _put(state, chosen[name], tensor)


def spread(state: JsonObject, like: Like) -> JsonObject:
    """The state with whole tensors distributed as the parameters they belong to: a checkpoint of one rank for many."""
    return {
        key: _spread(node, [key], like) if key in ("models_state_dict", "optimizers_state_dict") else node
        for key, node in state.items()
    }


def _without_shards(node: object, place: Place, shards: dict[str, DTensor]) -> Any:
    if isinstance(node, DTensor):
        shards[json.dumps(place)] = node
        return None
    if isinstance(node, dict):
        rest = copy.copy(node)  # keeps its kind, and the versions torch hangs onto a model's state
        for key, child in node.items():
            rest[key] = _without_shards(child, [*place, key], shards)
        return rest
    if isinstance(node, list):
        return [_without_shards(child, [*place, number], shards) for number, child in enumerate(node)]
    return node


def _spread(node: object, place: Place, like: Like) -> object:
    if isinstance(node, dict):
        spread_out = copy.copy(node)
        for key, child in node.items():
            spread_out[key] = _spread(child, [*place, key], like)
        return spread_out
    if isinstance(node, list):
        return [_spread(child, [*place, number], like) for number, child in enumerate(node)]
    if not isinstance(node, torch.Tensor) or isinstance(node, DTensor):
        return node
    pattern = like(place)
    if not isinstance(pattern, DTensor) or pattern.shape != node.shape:
        return node
    # Every rank has read the whole and cuts its part out of it; nothing has to be sent.
    return distribute_tensor(node.to(pattern.device), pattern.device_mesh, pattern.placements, src_data_rank=None)


def _empty(entry: object, like: torch.Tensor | None) -> torch.Tensor:
    if not isinstance(entry, TensorStorageMetadata):
        raise UnsafeCheckpoint(
            f"the sharded part of a checkpoint holds a {type(entry).__name__}; only tensors belong there"
        )
    dtype = entry.properties.dtype
    if not isinstance(like, DTensor):
        return torch.empty(entry.size, dtype=dtype)
    if like.shape == entry.size:
        return torch.empty_like(like, dtype=dtype, requires_grad=False)
    # A state of another shape than its parameter: whole on every rank, which is right whatever it was.
    return empty_dtensor(entry.size, dtype=dtype, device_mesh=like.device_mesh)


def _put(state: Any, place: Place, tensor: torch.Tensor) -> None:
    node = state
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = tensor


class _Planner(DefaultSavePlanner):
    """Plans what is written of tensors by what they say of themselves, and takes their values from elsewhere."""

    def __init__(self, values: dict[str, torch.Tensor]) -> None:
        super().__init__()
        self._values = values

    def lookup_object(self, index: MetadataIndex) -> torch.Tensor:
        return self._values[index.fqn]


class _Reader(FileSystemReader):
    """Replacement of torch's reader, which unpickles whatever the index holds."""

    def read_metadata(self, *_arguments: object, **_named: object) -> Metadata:
        with (Path(self.path) / ".metadata").open("rb") as stream:
            metadata: Metadata = _IndexUnpickler(stream).load()
        for stored in metadata.storage_data.values():
            if len(PurePosixPath(stored.relative_path).parts) != 1:
                raise UnsafeCheckpoint(f"{self.path} refers to a file outside of it: {stored.relative_path}")
        metadata.storage_meta = metadata.storage_meta or StorageMeta()
        metadata.storage_meta.load_id = self.load_id
        return metadata


class _IndexUnpickler(pickle.Unpickler):
    """Names, shapes and offsets as torch.distributed.checkpoint writes them, and nothing that could be called."""

    _CLASSES = {
        ("torch", "Size"), ("torch.serialization", "_get_layout"), ("pathlib", "PosixPath"),
        *(("torch.distributed.checkpoint.metadata", name) for name in (
            "Metadata", "StorageMeta", "TensorStorageMetadata", "BytesStorageMetadata", "ChunkStorageMetadata",
            "MetadataIndex", "TensorProperties", "_MEM_FORMAT_ENCODING",
        )),
        ("torch.distributed.checkpoint.filesystem", "_StorageInfo"),
    }  # fmt: skip

    def find_class(self, module: str, name: str) -> Any:
        is_dtype = module == "torch" and isinstance(getattr(torch, name, None), torch.dtype)
        if (module, name) == ("pathlib._local", "PosixPath"):  # as Python 3.13 names it
            return PosixPath
        if (module, name) == ("builtins", "getattr"):  # how Python 3.11.0 to 3.11.3 pickle a member of an enum
            return _member_of
        if is_dtype or (module, name) in self._CLASSES:
            return super().find_class(module, name)
        raise UnsafeCheckpoint(f"the index of a sharded checkpoint holds {module}.{name}; it is not loaded")


def _member_of(kind: object, name: object) -> object:
    """Look a member of an enum up, and nothing else: `getattr` itself would reach every function there is."""
    if not (isinstance(kind, EnumType) and isinstance(name, str) and name in kind.__members__):
        raise UnsafeCheckpoint(f"the index of a sharded checkpoint asks for {name!r} of {kind!r}; it is not loaded")
    return kind[name]
