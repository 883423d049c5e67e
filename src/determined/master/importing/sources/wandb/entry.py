"""Entry of `det master import wandb`."""

from determined.master.importing import tracked_writer
from determined.master.importing.registry import Finished, Request
from determined.master.importing.sources.wandb.mapping import WandbSource
from determined.master.importing.tracked_metrics import choice_of


def run(request: Request) -> Finished:
    """Import the runs of a `wandb` directory."""
    given = request.options
    choice = choice_of(given.validation, given.metric, maximize=given.maximize)
    return tracked_writer.run(request, WandbSource(request.source, choice), choice)
