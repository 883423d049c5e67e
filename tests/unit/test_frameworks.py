"""The registry knows every training API from its folder, without importing a framework."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import determined
from determined._frameworks import extra_of, framework_of, framework_of_checkpoint, frameworks


def test_a_class_belongs_to_the_training_api_of_its_nearest_base() -> None:
    base = type("PyTorchTrial", (), {"__module__": "determined.pytorch._trial"})
    inner = type("DeepSpeedTrial", (base,), {"__module__": "determined.pytorch.deepspeed._trial"})
    for trial_class, package in ((base, "determined.pytorch"), (inner, "determined.pytorch.deepspeed")):
        framework = framework_of(type("Mine", (trial_class,), {"__module__": "model_def"}))
        assert framework is not None
        assert framework.package == package
    assert framework_of(object) is None


@pytest.mark.parametrize(
    ("trial_type", "metadata", "package"),
    [
        ("PyTorchTrial", {}, "determined.pytorch"),
        ("TFKerasTrial", {"framework": "torch-1.9"}, "determined.keras"),
        (None, {"framework": "torch-1.9", "format": "pickle"}, "determined.pytorch"),
        (None, {"framework": "tensorflow-2.4", "format": "saved_weights"}, "determined.keras"),
        (None, {"framework": "tensorflow-2.4", "format": "saved_model"}, "determined.estimator"),
    ],
)
def test_a_checkpoint_belongs_to_the_training_api_that_wrote_it(
    trial_type: str | None, metadata: dict[str, str], package: str
) -> None:
    framework = framework_of_checkpoint(trial_type, metadata)
    assert framework is not None
    assert framework.package == package


@pytest.mark.parametrize(("trial_type", "metadata"), [(None, {}), ("MyTrial", {"framework": "torch-1.9"})])
def test_a_checkpoint_of_somebody_else_belongs_to_none(trial_type: str | None, metadata: dict[str, str]) -> None:
    assert framework_of_checkpoint(trial_type, metadata) is None


def test_a_missing_module_is_brought_by_an_extra() -> None:
    assert extra_of("torch.nn") == "torch"
    assert extra_of("pytorch_lightning") == "lightning"
    assert extra_of("pandas") is None


def test_no_framework_is_imported_to_tell_of_it() -> None:
    program = (
        "import sys; from determined._frameworks import frameworks; frameworks(); "
        "sys.exit(any(module in sys.modules for each in frameworks() for module in each.extras))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_every_trial_class_has_the_modules_that_run_it() -> None:
    for framework in frameworks():
        names = {"_entrypoint", "_one_batch"} if framework.trial_class else set()
        names |= {"_load"} if framework.trial_type else set()
        folder = Path(determined.__path__[0], *framework.package.split(".")[1:])
        assert names <= {file.stem for file in folder.glob("*.py")}, framework.package


def test_every_extra_of_a_training_api_can_be_installed() -> None:
    project = tomllib.loads(Path(__file__).parents[2].joinpath("pyproject.toml").read_text())["project"]
    extras = {extra for framework in frameworks() for extra in framework.extras.values()}
    assert extras <= set(project["optional-dependencies"])
