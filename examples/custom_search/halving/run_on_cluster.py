"""Drive the search from a trial of its own; search.yaml submits it."""

import logging

from halving import Halving

import determined as det
from determined import searcher

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    with det.core.init() as core_context:
        runner = searcher.RemoteSearchRunner(Halving(), core_context)
        experiment_id = runner.run("config.yaml", model_dir=".")
    logging.info("experiment %s: %s trials", experiment_id, len(runner.state.trials_closed))
