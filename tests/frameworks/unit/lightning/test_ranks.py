"""Two ranks that are started from outside."""

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[3] / "unit" / "pytorch"))

from ranks import run_ranks

JOBS = Path(__file__).parent / "ddp_jobs.py"


def test_a_pause_of_two_ranks_changes_nothing(tmp_path: Path) -> None:
    first, second = _run("pauses", str(tmp_path), 7)
    assert first["size"] == second["size"] == 2
    assert first["resumed"] == first["alone"] == second["alone"] == second["resumed"]
    files = {path.name for path in (tmp_path / first["checkpoint"]).iterdir()}
    assert {"lightning.ckpt", "determined_rank_0.pth", "determined_rank_1.pth"} <= files


def test_the_adapter_exchanges_gradients(tmp_path: Path) -> None:
    (gradient, weights), (other_gradient, other_weights) = _run("adapter_step", str(tmp_path))
    assert gradient == other_gradient
    assert any(gradient)
    assert weights == other_weights


def _run(job: str, *arguments: object) -> list[Any]:
    return run_ranks(2, f"{JOBS}:{job}", *arguments)


def test_several_optimizers_of_the_adapter_train_alike_on_two_ranks(tmp_path: Path) -> None:
    chief, other = _run("adapter_fit", str(tmp_path), 1)
    assert chief["weights"] == other["weights"]
    assert chief["weights"]["other.weight"] != chief["first"]["other.weight"]
    assert chief["weights"]["net.0.weight"] != chief["first"]["net.0.weight"]
    assert not other["reported"]


def test_a_rank_without_validation_data_does_not_keep_the_other_waiting(tmp_path: Path) -> None:
    """A metric of torchmetrics is computed by all ranks together."""
    chief, _ = _run("adapter_fit", str(tmp_path), 3)
    (metrics,) = chief["reported"]
    assert metrics["measure"] == metrics["plain"] == 2.0
