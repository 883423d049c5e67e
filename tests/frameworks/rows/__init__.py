"""The rows of the compatibility table. A module of this package holds `ROWS: list[Row]` of one framework:
`from rows import Row`."""

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

JOURNEYS = ("train", "search", "pause", "two_slots", "off_cluster")

# Where the version of a framework is read.
DISTRIBUTIONS = {
    "PyTorch": "torch",
    "Keras": "keras",
    "Estimator": "tensorflow-cpu",
    "Lightning": "lightning",
    "DeepSpeed": "deepspeed",
    "Transformers": "transformers",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Framework in one version with one generation of its training API, and the example that shows it.

    Attributes:
        framework: a key of `DISTRIBUTIONS`.
        version: how the installed version begins.
        python: `current`, `tf215`, or `torch`, which is `current` with Keras on torch.
        generation: the class or way of training, as the table names it.
        example: a directory under examples/.
        config: trains once; small.
        search: an adaptive_asha search.
        distributed: the config for two slots, where it is another than `config` with two slots.
        script: off cluster it is `python3 SCRIPT`; None: `det e create --local --test`.
        two_slots, pause, off_cluster: whether it can, or why not; `as X`: another row shows it. A number at `pause`:
            how far metrics may differ, relatively, where the framework is not deterministic.
        pause_changes: what a run has to be for a pause to fall into it, merged into `config`.
        fast: the journeys of `make test-frameworks-fast`.
        environment: variables of its processes.
    """

    framework: str
    version: str
    python: str
    generation: str
    example: str
    config: str = "config.yaml"
    search: str = "search.yaml"
    distributed: str | None = None
    script: str | None = None
    two_slots: bool | str = True
    pause: bool | str | float = True
    off_cluster: bool | str = True
    pause_changes: Mapping[str, Any] = field(default_factory=dict)
    fast: tuple[str, ...] = ("train",)
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.framework}-{self.version}-{self.generation}-{self.python}".replace(" ", "_")

    def obstacle(self, journey: str) -> str | None:
        """Return why this row cannot go that way; None: it can."""
        answer = getattr(self, journey) if journey in ("two_slots", "pause", "off_cluster") else True
        if isinstance(answer, str):
            return answer
        return "no" if answer is False else None


def all_rows() -> list[Row]:
    """Sorted as the table shows them."""
    modules = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
    rows = [row for module in modules for row in module.ROWS]
    return sorted(rows, key=lambda row: (list(DISTRIBUTIONS).index(row.framework), row.generation, row.version))
