"""The code of docs/training-apis/lightning.md runs as it stands, and either Lightning may be imported."""

import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[4]
_FILE = re.compile(r"File `(\S+)`:\n```python\n(.*?)```", re.DOTALL)


@pytest.fixture
def documented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, off_cluster: Path) -> Path:
    for name, text in _FILE.findall((ROOT / "docs" / "training-apis" / "lightning.md").read_text()):
        (tmp_path / "work" / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path / "work"))
    monkeypatch.delitem(sys.modules, "train", raising=False)
    return tmp_path / "work"


def test_the_script_trains_off_cluster(documented: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(documented / "train.py"), run_name="__main__")
    assert "trained" in capsys.readouterr().out


def test_the_trial_trains_a_batch(documented: Path) -> None:
    from determined.experimental import test_one_batch as one_batch

    trial: Any = runpy.run_path(str(documented / "model_def.py"))["LineTrial"]
    config = {
        "hyperparameters": {"lr": 0.1, "global_batch_size": 8},
        "searcher": {"name": "single", "metric": "val_loss", "max_length": {"batches": 1}},
    }
    one_batch(trial_class=trial, config=config)
    sys.modules.pop("train", None)


def test_a_trainer_of_pytorch_lightning_has_our_callbacks_for_its_own(tmp_path: Path) -> None:
    """In a process of its own: this one has the other Lightning."""
    script = """
import determined.lightning
import pytorch_lightning as pl
from pytorch_lightning.demos.boring_classes import BoringModel
class Own(pl.Trainer):
    pass
class Leaving(pl.Callback):
    def on_train_epoch_end(self, trainer, pl_module):
        context.preemption._is_asked = True
with determined.lightning.init(checkpoint_storage="checkpoints") as context:
    trainer = Own(**context.trainer_kwargs(max_epochs=2, callbacks=[Leaving()], enable_progress_bar=False))
    assert all(isinstance(callback, pl.Callback) for callback in trainer.callbacks), trainer.callbacks
    assert isinstance(trainer.logger, pl.loggers.Logger)
    trainer.fit(BoringModel())
    assert context.checkpoint.saved_at == 64, context.checkpoint.saved_at
    assert context.is_preempted
import sys
assert "lightning.pytorch" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
