"""A script of the Core API, without any framework."""

from pathlib import Path

from rigs import Rig

RIGS = [
    Rig(
        api="determined.core",
        name="core_script",
        directory=Path(__file__).parent,
        entrypoint="train.py",
        mistake="mistake.py",
        advice="call op.report_completed() before going on to the next operation",
        metric="validation_loss",
        checks_searcher_metric=False,
    )
]
