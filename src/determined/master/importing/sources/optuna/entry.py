"""Entry of `det master import optuna`."""

from determined.master.importing import tracked_writer
from determined.master.importing.registry import Finished, Request
from determined.master.importing.sources.optuna.mapping import OptunaSource


def run(request: Request) -> Finished:
    """Import the studies of a storage."""
    return tracked_writer.run(request, OptunaSource(request.source))
