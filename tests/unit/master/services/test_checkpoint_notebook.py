"""The notebook file on a checkpoint: valid, and its first cell loads what the checkpoint is."""

import ast
import json
from typing import Any

import pytest

from determined.master.services import checkpoint_notebook
from determined.wire.checkpoint import Checkpoint, CheckpointState, CheckpointTrainingMetadata


def made(resources: dict[str, str], framework: str = "", uuid: str = "12345678-90") -> Checkpoint:
    return Checkpoint(
        uuid=uuid,
        metadata={"framework": framework} if framework else {},
        resources=resources,
        state=CheckpointState.COMPLETED,
        training=CheckpointTrainingMetadata(trial_id=7, experiment_id=3),
    )


def first_cell(checkpoint: Checkpoint) -> str:
    page: dict[str, Any] = json.loads(checkpoint_notebook.content(checkpoint))
    about, load = page["cells"]
    assert "trial 7, experiment 3" in about["source"]
    ast.parse(load["source"])
    return str(load["source"])


@pytest.mark.parametrize(
    ("resources", "framework", "expected"),
    [
        ({"load_data.json": "1", "state_dict.pth": "9"}, "torch-2.9.0", "pytorch.load_trial_from_checkpoint_path"),
        ({"load_data.json": "1", "w.h5": "9"}, "tensorflow-2.15", "keras.load_model_from_checkpoint_path"),
        ({"model.pt": "9", "code/": "0"}, "", "torch.load(path + '/model.pt'"),
        ({"a.pt": "9", "b.pt": "9"}, "", "files"),
        ({"weights.bin": "9"}, "", "files"),
    ],
)
def test_the_first_cell_loads_what_the_checkpoint_is(resources: dict[str, str], framework: str, expected: str) -> None:
    source = first_cell(made(resources, framework))
    assert "client.get_checkpoint('12345678-90')" in source
    assert expected in source


@pytest.mark.parametrize("name", ["it's.pt", 'a";print(1);".pt', "a\n__import__('os').pt", "\\.pt", "{0}.pt"])
def test_the_name_of_a_file_is_never_code(name: str) -> None:
    tree = ast.parse(first_cell(made({name: "9"})))
    names = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    assert f"/{name}" in names


def test_a_file_of_the_code_keeps_its_name() -> None:
    assert checkpoint_notebook.name_of("12345678-90", set()) == "checkpoint-12345678.ipynb"
    assert checkpoint_notebook.name_of("12345678-90", {"checkpoint-12345678.ipynb"}) == "checkpoint-12345678-90.ipynb"
