"""Entry of `det master import tensorboard`."""

from determined.master.importing import tracked_writer
from determined.master.importing.registry import Finished, Request
from determined.master.importing.sources.tensorboard.mapping import TensorBoardSource
from determined.master.importing.tracked_metrics import choice_of


def run(request: Request) -> Finished:
    """Import the runs whose event files are below a directory."""
    given = request.options
    choice = choice_of(given.validation, given.metric, maximize=given.maximize)
    return tracked_writer.run(request, TensorBoardSource(request.source, choice), choice)
