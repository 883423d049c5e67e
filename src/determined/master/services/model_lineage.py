"""Lineage: trials that said which checkpoint or model version they work with, and what they measured."""

from collections.abc import Sequence

from sqlalchemy import Connection

from determined.errors import InvalidArgument, NotFound
from determined.master.context import MasterContext
from determined.master.db import fetch
from determined.master.db.queries import checkpoint_list, trial_source
from determined.master.db.queries import model as models
from determined.master.db.queries import trial as trials
from determined.master.db.queries.trial_source import TrialUsing as TrialUsingRow
from determined.master.db.rows.checkpoints import TrialSourceInfoValues
from determined.master.services.metric import reports_of
from determined.master.services.model_name import existing_model
from determined.master.services.model_version import existing_version
from determined.wire.codec import rfc3339
from determined.wire.metric import GetCheckpointMetrics, MetricsReport
from determined.wire.model_version import TrialUsing
from determined.wire.trial import TrialSourceInfo, TrialSourceInfoType

_PREFIX = "TRIAL_SOURCE_INFO_TYPE_"


async def report(ctx: MasterContext, info: TrialSourceInfo) -> None:
    """Record that a trial works with a checkpoint (inference, fine-tuning), and as which version of a model.

    Raises:
        NotFound: no such trial, checkpoint, model or version. InvalidArgument: the version has another checkpoint.
    """

    def run(conn: Connection) -> None:
        trials.get(conn, info.trial_id)
        _check_version(conn, info)
        if not trial_source.put(conn, info.trial_id, info.checkpoint_uuid, _source_values(info)):
            raise NotFound(f"checkpoint {info.checkpoint_uuid} not found")

    await ctx.db.write(run)


async def using_version(
    ctx: MasterContext, name: str, version: str, kind: TrialSourceInfoType | None
) -> list[TrialUsing]:
    rows = await ctx.db.read(lambda conn: _using_version(conn, name, version, kind))
    return [_trial(row) for row in rows]


async def using_checkpoint(ctx: MasterContext, uuid: str, kind: TrialSourceInfoType | None) -> list[TrialUsing]:
    def read(conn: Connection) -> list[TrialUsingRow]:
        if not checkpoint_list.load(conn, [uuid]):
            raise NotFound(f"checkpoint {uuid} not found")
        return trial_source.using_checkpoint(conn, uuid, _kind(kind))

    return [_trial(row) for row in await ctx.db.read(read)]


async def metrics_of_version(
    ctx: MasterContext, name: str, version: str, params: GetCheckpointMetrics
) -> list[MetricsReport]:
    def read(conn: Connection) -> list[MetricsReport]:
        using = _using_version(conn, name, version, params.trial_source_info_type)
        return reports_of(conn, _trial_ids(using), params.metric_group or None)

    return await ctx.db.read(read)


async def metrics_of_checkpoint(ctx: MasterContext, uuid: str, params: GetCheckpointMetrics) -> list[MetricsReport]:
    def read(conn: Connection) -> list[MetricsReport]:
        using = trial_source.using_checkpoint(conn, uuid, _kind(params.trial_source_info_type))
        return reports_of(conn, _trial_ids(using), params.metric_group or None)

    return await ctx.db.read(read)


def _using_version(conn: Connection, name: str, version: str, kind: TrialSourceInfoType | None) -> list[TrialUsingRow]:
    model = existing_model(conn, name)
    number = existing_version(conn, model, version).version
    return trial_source.using_version(conn, model.id, number, _kind(kind))


def _trial_ids(using: Sequence[TrialUsingRow]) -> list[int]:
    """A trial may use several checkpoints; its metrics are read once."""
    return list(dict.fromkeys(row.trial_id for row in using))


def _check_version(conn: Connection, info: TrialSourceInfo) -> None:
    if info.model_id is None and info.model_version is None:
        return
    if info.model_id is None or info.model_version is None:
        raise InvalidArgument("modelId and modelVersion belong together; send both or none")
    model = fetch.existing(models.get(conn, info.model_id), f'model "{info.model_id}" not found')
    version = existing_version(conn, model, str(info.model_version))
    if version.checkpoint_uuid != info.checkpoint_uuid:
        raise InvalidArgument(
            f'version {version.version} of model "{model.name}" is checkpoint {version.checkpoint_uuid}, not'
            f" {info.checkpoint_uuid}; name the version that the trial uses"
        )


def _source_values(info: TrialSourceInfo) -> TrialSourceInfoValues:
    kind = info.trial_source_info_type.removeprefix(_PREFIX)
    return {"type": kind, "model_id": info.model_id, "model_version": info.model_version}


def _kind(kind: TrialSourceInfoType | None) -> str | None:
    if kind is None or kind is TrialSourceInfoType.UNSPECIFIED:
        return None
    return kind.removeprefix(_PREFIX)


def _trial(row: TrialUsingRow) -> TrialUsing:
    state = "RUNNING" if row.unmanaged and row.state == "ACTIVE" else row.state
    return TrialUsing(
        trial_id=row.trial_id,
        experiment_id=row.experiment_id,
        experiment_name=row.experiment_name,
        state=f"STATE_{state}",
        user_id=row.user_id,
        username=row.username,
        start_time=rfc3339(row.start_time),
        trial_source_info_type=TrialSourceInfoType(_PREFIX + row.type),
        checkpoint_uuid=row.checkpoint_uuid,
        model_id=row.model_id,
        model_version=row.model_version,
    )
