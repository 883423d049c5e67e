"""A notebook on a checkpoint: the code and the environment of its experiment, and a notebook file that loads it."""

import asyncio
import base64
import io
import tarfile
from dataclasses import dataclass

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config import mask_secrets, masked_places, parse_yaml
from determined.config.job import JobConfig
from determined.errors import FailedPrecondition, InvalidArgument, InvalidConfig
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import model_definition
from determined.master.services import checkpoint_notebook, checkpoint_view
from determined.wire.checkpoint import Checkpoint, CheckpointState
from determined.wire.experiment import File
from determined.wire.notebook import LaunchNotebookRequest

_LOADABLE = (CheckpointState.COMPLETED, CheckpointState.PARTIALLY_DELETED)
# Ports and Kubernetes' settings are of the training, not of the surroundings of its code.
_INHERITED = (
    "image",
    "environment_variables",
    "force_pull_image",
    "registry_auth",
    "add_capabilities",
    "drop_capabilities",
    "python",
    "shared_tmp",
)


@dataclass(frozen=True, slots=True)
class _Origin:
    """Checkpoint and what its experiment has: code, environment, interpreter."""

    checkpoint: Checkpoint
    environment: JsonObject
    tgz: bytes | None
    submitter_python: str | None


async def fill(ctx: MasterContext, caller: Caller, asked: LaunchNotebookRequest) -> LaunchNotebookRequest:
    """Return the request with files, environment and interpreter of the checkpoint's experiment.

    Raises:
        NotFound: no such checkpoint. FailedPrecondition: its files are gone, or it belongs to no experiment.
        InvalidArgument: the request brings files of its own.
    """
    if asked.files:
        raise InvalidArgument("a notebook on a checkpoint gets the code of its experiment; send no files beside it")
    origin = await ctx.db.read(lambda conn: _origin(conn, caller, asked.checkpoint_uuid or ""))
    now = int(ctx.clock.now().timestamp())
    low = {"environment": origin.environment} if origin.environment else {}
    return LaunchNotebookRequest(
        config=JobConfig.merge(JobConfig.canonical(asked.config or {}), JobConfig.canonical(low)),
        template_name=asked.template_name,
        files=await asyncio.to_thread(_files, origin, now),
        workspace_id=asked.workspace_id,
        submitter_python=origin.submitter_python or asked.submitter_python,
        preview=asked.preview,
    )


def _origin(conn: Connection, caller: Caller, uuid: str) -> _Origin:
    checkpoint = checkpoint_view.one(conn, uuid)
    experiment_id = checkpoint.training.experiment_id
    if checkpoint.state not in _LOADABLE:
        raise FailedPrecondition(f"checkpoint {uuid} is {checkpoint.state.name}; only COMPLETED ones can be loaded")
    if experiment_id is None:
        raise FailedPrecondition(f"checkpoint {uuid} belongs to no experiment, so there is no code to start with")
    experiment = experiments.get(conn, experiment_id)
    may_know = caller.admin or caller.user_id == experiment.owner_id
    return _Origin(
        checkpoint,
        _environment(experiment.original_config, with_secrets=may_know),
        model_definition.get(conn, experiment_id),
        experiment.submitter_python,
    )


def _environment(config: str, *, with_secrets: bool) -> JsonObject:
    """Return the environment as it was submitted; without logins for others than the experiment's owner."""
    try:
        raw = parse_yaml(config)
    except InvalidConfig:
        return {}
    found = (raw if with_secrets else mask_secrets(raw)).get("environment")
    kept = {key: found[key] for key in _INHERITED if key in found} if isinstance(found, dict) else {}
    return {key: value for key, value in kept.items() if not masked_places({key: value})}


def _files(origin: _Origin, now: int) -> list[File]:
    """Return the code of the experiment and the notebook file, as a submit carries them; the file is of this second."""
    files = list(_members(origin.tgz)) if origin.tgz else []
    name = checkpoint_notebook.name_of(origin.checkpoint.uuid, {file.path for file in files})
    content = checkpoint_notebook.content(origin.checkpoint).encode()
    return [*files, _file(name, tarfile.REGTYPE, content, 0o644, now)]


def _members(tgz: bytes) -> list[File]:
    with tarfile.open(fileobj=io.BytesIO(tgz), mode="r:gz") as archive:
        return [_of_member(archive, member) for member in archive if member.isfile() or member.isdir()]


def _of_member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> File:
    found = archive.extractfile(member) if member.isfile() else None
    content = found.read() if found is not None else b""
    kind = tarfile.REGTYPE if member.isfile() else tarfile.DIRTYPE
    return _file(member.name, kind, content, member.mode, int(member.mtime))


def _file(path: str, kind: bytes, content: bytes, mode: int, mtime: int) -> File:
    text = base64.b64encode(content).decode()
    return File(path=path, type=ord(kind), content=text, mode=mode, mtime=str(mtime), uid=0, gid=0)
