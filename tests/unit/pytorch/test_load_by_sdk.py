"""`Checkpoint.load()`, as scripts of the releases until 0.19 have it."""

from pathlib import Path
from typing import Any, cast

import pytest
import torch

from determined.api.session import Session
from determined.experimental.client import Checkpoint

UPSTREAM = Path(__file__).parent / "upstream_checkpoints"

pytestmark = pytest.mark.usefixtures("own_place")


class Downloaded(Checkpoint):
    """One whose files are here already."""

    def download(self, path: str | None = None, mode: Any = None) -> str:
        return str(UPSTREAM / self.uuid) if path is None else path


def test_load_downloads_a_checkpoint_and_makes_its_trial() -> None:
    with pytest.warns(FutureWarning, match=r"Checkpoint.load\(\) is deprecated.*load_trial_from_checkpoint_path"):
        trial = Downloaded(cast(Session, None), "trainer").load()
    saved = torch.load(UPSTREAM / "trainer" / "state_dict.pth", weights_only=False)["models_state_dict"][0]
    assert type(trial).__name__ == "TinyTrial"
    assert all(torch.equal(value, saved[name]) for name, value in trial.model.state_dict().items())


def test_load_from_path_knows_a_checkpoint_from_before_load_data() -> None:
    with pytest.warns(FutureWarning, match="load_from_path"):
        trial = Checkpoint.load_from_path(str(UPSTREAM / "before_load_data"))
    assert type(trial).__name__ == "TinyTrial"


def test_further_arguments_are_those_of_torch_load() -> None:
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="meta tensor"):
        Checkpoint.load_from_path(str(UPSTREAM / "trainer"), map_location="meta")


def test_a_checkpoint_of_a_script_is_said_to_be_none_of_a_trial(tmp_path: Path) -> None:
    (tmp_path / "metadata.json").write_text('{"steps_completed": 3}')
    with (
        pytest.warns(FutureWarning),
        pytest.raises(ValueError, match=r"is no checkpoint of a PyTorchTrial.*its trial type is None.*read its files"),
    ):
        Checkpoint.load_from_path(str(tmp_path))
