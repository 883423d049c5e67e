"""The environments that `make frameworks` builds: `current` has today's releases, `tf215` the last TensorFlow with
estimators and Keras 2."""

import os
from pathlib import Path

_ENVIRONMENTS = {
    "current": ("DET_TEST_FRAMEWORKS", ".venv-frameworks"),
    "tf215": ("DET_TEST_TF215", ".venv-tf215"),
}


def framework_python(name: str) -> Path:
    """Path of an environment's Python, whether it is built or not."""
    variable, directory = _ENVIRONMENTS[name]
    default = Path(__file__).parents[1] / directory
    return Path(os.environ.get(variable, str(default))) / "bin" / "python"
