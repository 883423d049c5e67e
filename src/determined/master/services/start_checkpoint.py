"""Check that trials find the checkpoint that they start from.

A task looks for every checkpoint in the storage of its experiment's config. One that was saved in another storage is
there only if somebody has copied it.
"""

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.errors import CheckpointNotFound, DeterminedError, InvalidArgument
from determined.master.context import MasterContext
from determined.master.db.queries import checkpoint_list
from determined.master.db.queries import trial as trials
from determined.master.db.rows.experiments import Experiment
from determined.master.lifecycle.checkpoint_place import Place, place_of
from determined.master.services.experiment_files import build, sees_directory
from determined.master.services.storage_check_threads import check_in_time
from determined.storage import registry


async def check(ctx: MasterContext, active: JsonObject, uuid: str | None, key: str) -> list[str]:
    """Refuse a start from files that are in another storage than the one of this config.

    Args:
        uuid: The checkpoint; None: trials start from none.
        key: The setting that the message is about.

    Returns:
        A warning, where the checkpoint was saved elsewhere and nobody can look whether it was copied.

    Raises:
        InvalidArgument: it is not there.
    """
    saved_in = None if uuid is None else await ctx.db.read(lambda conn: _storage_of(conn, uuid))
    wanted = active["checkpoint_storage"]
    if uuid is None or saved_in is None or _location(saved_in) == _location(wanted):
        return []
    text = (
        f"{key}: checkpoint {uuid} was saved in {_describe(saved_in)}, and trials look in {_describe(wanted)};"
        f" set checkpoint_storage to the first of the two, or copy the directory {uuid} to the second"
    )
    place = place_of(ctx.config, active, wanted)
    if not place.is_here and not (place.is_shared and await sees_directory(ctx.config, place.section)):
        return [text]
    if await _lacks(place, uuid):
        raise InvalidArgument(text)
    return []


def of_continued(conn: Connection, experiment: Experiment) -> str | None:
    """Return the checkpoint from which the only trial of an experiment goes on."""
    own = [trials.latest_checkpoint(conn, trial.id) for trial in trials.of_experiment(conn, experiment.id)]
    latest = next((found.uuid for found in own if found is not None), None)
    return latest or experiment.warm_start_checkpoint


def _storage_of(conn: Connection, uuid: str) -> JsonObject | None:
    """Return where it was saved. None where its script chose the storage: the next one may choose the same."""
    rows = checkpoint_list.load(conn, [uuid])
    if not rows:
        return None
    configs = checkpoint_list.experiment_configs(conn, rows)
    configured: JsonObject | None = (configs.get(rows[0].experiment_id or 0) or {}).get("checkpoint_storage")
    if configured is None or rows[0].storage is None:
        return configured
    return configured if _location(rows[0].storage) == _location(configured) else None


async def _lacks(place: Place, uuid: str) -> bool:
    """Say whether it is certain that it is not there."""
    try:
        await check_in_time(lambda: build(place.section).check(uuid, {}))
    except CheckpointNotFound:
        return True
    except (OSError, DeterminedError):  # also TimeoutError: the run will see
        return False
    return False


def _location(section: JsonObject) -> JsonObject:
    """Return the part of a section that says where files are: neither what is kept nor by which keys it is reached."""
    fields = registry.section(section.get("type")).schema.fields
    secrets = {name for name, field in fields.items() if field.secret}
    return {k: v for k, v in section.items() if v is not None and k not in secrets and not k.startswith("save_")}


def _describe(section: JsonObject) -> str:
    return registry.section(section.get("type")).described(section)
