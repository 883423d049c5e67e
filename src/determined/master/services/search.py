"""Searches as people see them: what one will cost before it runs, and letting one run longer."""

import asyncio
from collections import OrderedDict
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Connection

from determined.config import ExperimentConfig, check_sane, generation, prepare
from determined.master.bus import Bus
from determined.master.config import MasterConfig
from determined.master.context import MasterContext
from determined.master.lifecycle import extension
from determined.master.services import experiment_layers, experiment_view
from determined.master.services.experiment import announce
from determined.search.preview import Preview, TrialGroup, preview
from determined.search.registry import load_searcher
from determined.wire.experiment import Experiment
from determined.wire.search import SearchSummary, SearchUnit, TrialSummary

_previewing: WeakKeyDictionary[Bus, asyncio.Lock] = WeakKeyDictionary()
_recent: OrderedDict[str, SearchSummary] = OrderedDict()
_REMEMBERED = 32


async def summarize(ctx: MasterContext, config: dict[str, Any]) -> SearchSummary:
    """Count how many trials a config would train how long, and on how many slots.

    Raises:
        InvalidConfig: the searcher section or the hyperparameters are unusable.
        InvalidArgument: a search whose own program decides as it runs, or one too large to be simulated.
    """
    return await summarize_active(ctx, await asyncio.to_thread(_active, ctx.config, config))


async def summarize_active(ctx: MasterContext, active: dict[str, Any]) -> SearchSummary:
    """Summarize a complete config. Raises as `summarize` does."""
    key = repr((active["searcher"], active["hyperparameters"], active["resources"], generation(active)))
    # One at a time, whoever asks: a simulation keeps a processor busy for seconds. An editor asks again and again.
    async with _previewing.setdefault(ctx.bus, asyncio.Lock()):
        if key not in _recent:
            _recent[key] = await asyncio.to_thread(_summarize, active)
        _recent.move_to_end(key)
        while len(_recent) > _REMEMBERED:
            _recent.popitem(last=False)
        return _recent[key]


async def extend(ctx: MasterContext, experiment_id: int, trials: int) -> Experiment:
    """Let a running or completed search run `trials` more. Everybody may, as everybody may continue."""

    def run(conn: Connection) -> None:
        extension.extend(conn, ctx.clock.now(), experiment_id, trials)

    await ctx.db.write(run)
    announce(ctx, experiment_id)
    return await ctx.db.read(lambda conn: experiment_view.one(conn, ctx.clock.now(), experiment_id))


def _summarize(active: dict[str, Any]) -> SearchSummary:
    searcher = active["searcher"]
    declared = load_searcher(searcher)
    planned = preview(searcher, active["hyperparameters"], classic=generation(active) == "classic")
    slots = ExperimentConfig.load(active).resources.slots_per_trial
    return SearchSummary(
        config=searcher,
        trials=[_group(planned, group, trains_to_end=declared.trains_to_end) for group in planned.groups],
        total_trials=planned.trials,
        total_units=planned.total_units,
        slots_per_trial=slots,
        max_slots=slots * declared.running_at_most(planned.trials),
    )


def _active(master: MasterConfig, raw: dict[str, Any]) -> dict[str, Any]:
    """Prepare it as a submission would, but for what a preview does not need: an entrypoint and a pool."""
    check_sane(raw)
    resources = {key: value for key, value in (raw.get("resources") or {}).items() if key != "resource_pool"}
    prepared = prepare(
        {**raw, "resources": resources},
        template=None,
        pool_tcd=None,
        cluster_tcd=None,
        workspace_storage=None,
        master_storage=experiment_layers.master_storage(master),
        default_priority=master.resource_manager.scheduler.default_priority,
        invariants=[],
        seed=0,
        name="preview",
        managed=False,
    )
    return prepared.active


def _group(planned: Preview, group: TrialGroup, *, trains_to_end: bool) -> TrialSummary:
    value = group.lengths[-1] if group.lengths else None
    unit = SearchUnit(max_length=trains_to_end or value is None, name=planned.unit, value=value)
    return TrialSummary(count=group.count, unit=unit, lengths=list(group.lengths))
