"""Read the refusals of sbatch: for now, or for good."""

from pathlib import Path

import pytest

from determined.engines.slurm.commands import Slurm
from determined.errors import FailedPrecondition, Unavailable


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (
            "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
            Unavailable,
        ),
        ("sbatch: error: Batch job submission failed: Socket timed out on send/recv operation", Unavailable),
        ("sbatch: error: QOSMaxSubmitJobPerUserLimit", Unavailable),
        ("sbatch: error: AssocMaxSubmitJobLimit", Unavailable),
        ("sbatch: error: invalid partition specified: nowhere", FailedPrecondition),
        ("sbatch: error: QOSMaxWallDurationPerJobLimit", FailedPrecondition),
    ],
)
async def test_refusal_is_for_now_or_for_good(tmp_path: Path, words: str, kind: type[Exception]) -> None:
    sbatch = tmp_path / "sbatch"
    sbatch.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 1\n")
    sbatch.chmod(0o755)
    with pytest.raises(kind, match="sbatch: error"):
        await Slurm(str(tmp_path)).submit("#!/bin/sh\n")
