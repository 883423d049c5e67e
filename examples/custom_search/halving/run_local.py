"""Drive the search from this machine. Interrupted and started again, it goes on where it was."""

import logging
import sys

from halving import Halving

from determined import searcher

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    directory = sys.argv[1] if len(sys.argv) > 1 else "search"
    runner = searcher.LocalSearchRunner(Halving(), searcher_dir=directory)
    experiment_id = runner.run("config.yaml", model_dir=".")
    print(f"experiment {experiment_id}: {len(runner.state.trials_closed)} trials, {len(runner.state.failures)} failed")
