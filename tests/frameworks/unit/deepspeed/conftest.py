"""DeepSpeed on the CPU, and the ranks of tests/unit/pytorch."""

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "unit"), str(HERE.parents[2] / "unit" / "pytorch")]

os.environ["DS_ACCELERATOR"] = "cpu"  # read when deepspeed is imported, in ranks as well


@pytest.fixture(autouse=True)
def own_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For what scripts off cluster store, and for the code that they take to be theirs."""
    (tmp_path / "code").mkdir()
    monkeypatch.chdir(tmp_path / "code")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
