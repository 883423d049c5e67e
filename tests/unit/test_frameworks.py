"""The registry knows every training API from its folder, without importing a framework."""

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import determined
from determined import _frameworks
from determined._frameworks import extra_of, framework_of, framework_of_checkpoint, frameworks
from determined.exec.runner.preflight import findings


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


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A training API that is its folder alone."""
    folder = tmp_path / "toy_api_of_a_test"
    folder.mkdir()
    folder.joinpath("__init__.py").write_text("value = 5\n")
    folder.joinpath("framework.toml").write_text(
        'name = "Toy"\ninstall = "pip install toy"\n[extras]\ntoy_train = "toy"\n'
    )
    monkeypatch.setattr(_frameworks, "_ROOT", tmp_path)
    monkeypatch.setattr(determined, "__path__", [*determined.__path__, str(tmp_path)])
    caches = (frameworks, findings._packages_alike)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()
    sys.modules.pop("determined.toy_api_of_a_test", None)
    vars(determined).pop("toy_api_of_a_test", None)


@pytest.mark.usefixtures("toy")
def test_training_api_is_an_attribute_of_determined_by_its_folder() -> None:
    assert determined.toy_api_of_a_test.value == 5
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        determined.nothing  # noqa: B018


@pytest.mark.usefixtures("toy")
def test_nodes_with_different_versions_of_what_a_training_api_needs_are_found() -> None:
    assert "toy-train" in findings._packages_alike()


def test_every_training_api_is_an_attribute_of_determined_and_its_packages_are_compared() -> None:
    outer = {framework.package for framework in frameworks() if framework.package.count(".") == 1}
    assert all(_frameworks.is_training_api(package.partition(".")[2]) for package in outer)
    assert {"torch", "tensorflow", "keras", "pytorch-lightning", "deepspeed"} <= findings._packages_alike()


def test_unknown_attribute_of_determined_loads_no_framework() -> None:
    program = "import sys, determined; assert not hasattr(determined, 'x'); sys.exit('torch' in sys.modules)"
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
