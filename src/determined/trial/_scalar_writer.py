"""ScalarWriter: the part of TensorBoard's SummaryWriter that most training code uses, without TensorBoard."""

import time
from pathlib import Path
from typing import Any, NoReturn

from determined._json import JsonObject
from determined.tensorboard import EventFile


class ScalarWriter:
    """Writes numbers for TensorBoard. Images, histograms and the rest need TensorBoard itself.

    Example:
        >>> writer = ScalarWriter(context.get_tensorboard_path())
        >>> writer.add_scalar("lr", 0.1, global_step=10)
    """

    def __init__(self, log_dir: Path) -> None:
        self.log_dir = str(log_dir)
        self._file: EventFile | None = None

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Write a number at a step.

        Args:
            tag: its name; `/` groups charts.
            scalar_value: a number, or a tensor or array of one.
            global_step: 0 where none is given.
            walltime: seconds since the epoch; now where none is given.
            new_style: accepted for SummaryWriter's sake.
            double_precision: accepted for SummaryWriter's sake.
        """
        self._write({tag: float(scalar_value)}, global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: JsonObject,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Several numbers of one group at a step."""
        values = {f"{main_tag}/{tag}": float(value) for tag, value in tag_scalar_dict.items()}
        self._write(values, global_step, walltime)

    def get_logdir(self) -> str:
        return self.log_dir

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Close the file; what is written after this goes into another one."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"writing {name} needs TensorBoard, which is not installed; run: pip install tensorboard")

    def _write(self, values: dict[str, float], step: int | None, walltime: float | None) -> None:
        moment = time.time() if walltime is None else walltime
        if self._file is None:
            self._file = EventFile(Path(self.log_dir), moment)
        self._file.add_scalars(step or 0, moment, values)
