"""det preview-search: what the search of a config would cost, before anything runs."""

import argparse

from determined.api import search
from determined.cli import render
from determined.cli.config_file import config_text
from determined.cli.connection import connect
from determined.cli.grammar import FILES, arg, command, one_of
from determined.wire.search import SearchSummary, TrialSummary


def preview(args: argparse.Namespace) -> None:
    from determined.config import parse_yaml

    text = config_text(args.config_file, [], usage="det preview-search CONFIG_FILE")
    summary = search.preview(connect(args), parse_yaml(text))
    if args.json or args.yaml:
        render.structured(summary, args=args)
        return
    render.line(f"Searcher {summary.config['name']} would run {summary.total_trials} trial(s):")
    render.table(["Trials", "Training"], [[group.count, _training(group)] for group in summary.trials])
    render.line(_slots(summary))
    render.line(_units(summary))


def _training(group: TrialSummary) -> str:
    unit = group.unit
    if unit.value is None:
        return "to an end that the trial decides"
    words = f"{unit.value} {unit.name or 'units'}"
    earlier = [str(length) for length in group.lengths[:-1]]
    return f"{words}, validated at {', '.join(earlier)} on the way" if earlier else words


def _slots(summary: SearchSummary) -> str:
    return f"Slots: {summary.slots_per_trial} per trial, at most {summary.max_slots} at once"


def _units(summary: SearchSummary) -> str:
    if summary.total_units is None:
        return "Total training: not known, for the config does not say how long a trial trains"
    name = summary.trials[0].unit.name if summary.trials else None
    return f"Total training: about {summary.total_units} {name or 'units'}"


TREE = command(
    "preview-search",
    "preview search",
    preview,
    arg("config_file", completes=FILES, help="experiment config file (YAML)"),
    one_of(render.JSON, render.YAML),
)
