"""README.ipynb of a notebook's work directory: what is kept and what is not."""

import json
from pathlib import Path

NAME = "README.ipynb"
_KEPT = """# This notebook runs as a task

- Files in **`notebooks/`** are kept. They lie in {place}, and your next notebook has them again.
- Other notebooks (`.ipynb`) of this directory are copied to `notebooks/from-{short_id}/` within seconds after a save.
- Everything else in this directory is deleted when the task ends.
- The task ends with `det notebook kill {task_id}`, or when it has not been used for its `idle_timeout`.
"""
_LOST = """# This notebook runs as a task

- This directory is deleted when the task ends, notebooks included: their storage cannot be used ({reason}).
  Set `work_dir` in the config to work in a directory of the node, or download what you want to keep.
- The task ends with `det notebook kill {task_id}`, or when it has not been used for its `idle_timeout`.
"""
_FIRST_CELL = "import determined as det\n\ninfo = det.get_cluster_info()\ninfo.task_id, info.slot_ids"


def write(work_dir: Path, task_id: str, *, place: str | None, reason: str = "") -> None:
    """Write it. `place`: where notebooks are kept; None: nowhere, for this reason."""
    text = _LOST if place is None else _KEPT
    page = text.format(place=place, short_id=task_id[:8], task_id=task_id, reason=reason)
    about = {"id": "about", "cell_type": "markdown", "metadata": {}, "source": page}
    first = {"id": "task", "cell_type": "code", "metadata": {}, "source": _FIRST_CELL}
    cells = [about, first | {"outputs": [], "execution_count": None}]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    content = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (work_dir / NAME).write_text(json.dumps(content, indent=1))
