"""DetLogger with Lightning's Trainer outside of the cluster, against a real master."""

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cluster import HANG_SECONDS, clean_environment
from framework_pythons import framework_python

if TYPE_CHECKING:
    from journeys import Bench

pytestmark = [pytest.mark.frameworks, pytest.mark.timeout(900)]

SCRIPT = """
import sys

import lightning as L
import torch
from torch.utils.data import DataLoader, TensorDataset

from determined.experimental import core_v2
from determined.lightning.experimental import DetLogger


class Line(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def training_step(self, batch, index):
        if "fail" in sys.argv and index == 3:
            raise RuntimeError("on purpose")
        loss = (self.layer(batch[0]) - 2 * batch[0]).square().mean()
        self.log("loss", loss)
        return loss

    def test_step(self, batch, index):
        self.log("distance", (self.layer(batch[0]) - 2 * batch[0]).abs().mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


data = DataLoader(TensorDataset(torch.arange(8.0).unsqueeze(1) / 8), batch_size=1)
logger = DetLogger(config=core_v2.Config(name="line", hparams={"lr": 0.01}))
trainer = L.Trainer(
    logger=logger, max_epochs=2, log_every_n_steps=1, enable_checkpointing=False, enable_progress_bar=False,
    accelerator="cpu",
)
model = Line()
trainer.fit(model, data)
trainer.test(model, data)
"""


@pytest.mark.parametrize(("words", "state"), [((), "COMPLETED"), (("fail",), "ERROR")])
def test_a_fit_with_the_logger_is_a_trial(bench: "Bench", tmp_path: Path, words: tuple[str, ...], state: str) -> None:
    (tmp_path / "fit.py").write_text(SCRIPT)
    variables = clean_environment(
        HOME=str(tmp_path), DET_MASTER=bench.cluster.url, DET_USER="determined", DET_PASS="", OMP_NUM_THREADS="1"
    )
    command = [str(framework_python("current")), "fit.py", *words]
    done = subprocess.run(
        command, env=variables, cwd=tmp_path, capture_output=True, text=True, timeout=HANG_SECONDS, check=False
    )
    assert (done.returncode == 0) == (state == "COMPLETED"), done.stdout + done.stderr
    path = "/api/v1/experiments?limit=1&sortBy=SORT_BY_ID&orderBy=ORDER_BY_DESC"
    experiment = bench.client.get(path)["experiments"][0]
    assert (experiment["name"], experiment["state"]) == ("line", f"STATE_{state}")
    [trial] = bench.client.trials(experiment["id"])
    assert trial["hparams"] == {"lr": 0.01}
    training = bench.client.metrics(trial["id"], "training")
    losses = [report["totalBatches"] for report in training if "loss" in report["metrics"]["avg_metrics"]]
    if state == "ERROR":
        assert 0 < len(losses) <= 3 and "on purpose" in "\n".join(bench.client.log_lines(trial["id"]))
        return
    assert len(losses) == 16, training
    assert any("distance" in str(report["metrics"]) for report in training), "test goes on with the same trial"
