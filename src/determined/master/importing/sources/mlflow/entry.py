"""Entry of `det master import mlflow`."""

from determined.master.importing import tracked_writer
from determined.master.importing.registry import Finished, Request
from determined.master.importing.sources.mlflow.mapping import MlflowSource
from determined.master.importing.tracked_metrics import choice_of


def run(request: Request) -> Finished:
    """Import the runs of a tracking directory, database or server."""
    given = request.options
    choice = choice_of(given.validation, given.metric, maximize=given.maximize)
    return tracked_writer.run(request, MlflowSource(request.source, choice), choice)
