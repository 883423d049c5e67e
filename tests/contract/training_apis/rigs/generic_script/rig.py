"""A script of the Generic API, without any framework."""

from pathlib import Path

from rigs import HERE, Rig

RIGS = [
    Rig(
        api="determined.generic",
        name="generic_script",
        directory=Path(__file__).parent,
        entrypoint="train.py",
        mistake="mistake.py",
        advice="searcher metric 'best' is no number",
        metric="validation_loss",
        checks_searcher_metric=False,
        also=(HERE / "core_script" / "line.py",),
    )
]
