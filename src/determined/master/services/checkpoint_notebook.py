"""The notebook file that downloads and loads a checkpoint. Pure."""

import json
from collections.abc import Set

from determined._frameworks import framework_of_checkpoint
from determined._json import JsonObject
from determined.wire.checkpoint import Checkpoint

_DOWNLOAD = """\
from determined.experimental import client

checkpoint = client.get_checkpoint({uuid!r})
path = checkpoint.download()
"""
_TORCH_FILE = """
import torch

state = torch.load(path + {file!r}, map_location="cpu", weights_only=True)
type(state)
"""
_FILES = """
import pathlib

files = sorted(str(one.relative_to(path)) for one in pathlib.Path(path).rglob("*") if one.is_file())
files
"""
_LOAD_DATA = "load_data.json"  # of checkpoints that a trial class wrote
_TORCH_SUFFIXES = (".pt", ".pth", ".ckpt")


def name_of(uuid: str, taken: Set[str]) -> str:
    """Return a name for the file that the code of the experiment does not have."""
    short = f"checkpoint-{uuid[:8]}.ipynb"
    return short if short not in taken else f"checkpoint-{uuid}.ipynb"


def content(checkpoint: Checkpoint) -> str:
    """Return the file: where the checkpoint is from, then the cell that loads it."""
    about = {"id": "about", "cell_type": "markdown", "metadata": {}, "source": _about(checkpoint)}
    source = (_DOWNLOAD.format(uuid=checkpoint.uuid) + _loading(checkpoint)).rstrip("\n")
    load: JsonObject = {
        "id": "load",
        "cell_type": "code",
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    page = {"cells": [about, load], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(page, indent=1)


def _about(checkpoint: Checkpoint) -> str:
    origin = checkpoint.training
    lines = [f"# Checkpoint {checkpoint.uuid}", ""]
    lines.append(
        f"Of trial {origin.trial_id}, experiment {origin.experiment_id}, whose code lies beside this notebook."
    )
    return "\n".join(lines)


def _loading(checkpoint: Checkpoint) -> str:
    files = sorted(checkpoint.resources)
    framework = framework_of_checkpoint(None, checkpoint.metadata) if _LOAD_DATA in files else None
    if framework is not None and framework.load_checkpoint:
        return f"\n{framework.load_checkpoint}"
    weights = [name for name in files if name.endswith(_TORCH_SUFFIXES)]
    if len(weights) == 1:
        return _TORCH_FILE.format(file=f"/{weights[0]}")
    return _FILES
