"""Compares public names, methods and parameters of the official wheel with ours."""

import os
from fnmatch import fnmatch
from pathlib import Path

import pytest
from source_surface import Class, Package, Signature

pytestmark = pytest.mark.official

ROOT = Path(__file__).parents[3]
MODULES = [
    "determined", "determined.common.api.errors", "determined.core", "determined.errors", "determined.experimental",
    "determined.experimental.client", "determined.experimental.core_v2",
    "determined.keras", "determined.keras.callbacks", "determined.pytorch",
    "determined.pytorch.deepspeed", "determined.pytorch.experimental", "determined.pytorch.samplers",
    "determined.lightning.experimental", "determined.tensorboard", "determined.transformers",
]  # fmt: skip

# Differences that user code does not meet, by pattern, each with its reason.
ALLOWED = {
    # Objects that a function of the platform makes; users hold them and do not construct them.
    "determined.EnvContext.__init__": "from_config and the harness make it; all names are accepted",
    "determined.core.*Context.__init__": "core.init makes it",
    "determined.core.SearcherOperation.__init__": "SearcherContext.operations() makes it",
    "determined.*TrialController*": "the loop itself, replaced by ours",
    "determined.*TrialContext.__init__": "init() and the harness make it",
    "determined.tensorboard.*TensorboardManager*": "tensorboard.build() makes it",
    # Parts of upstream's own loops.
    "determined.*Trial.trial_controller_class": "the loop is found by the training API, not by the trial",
    "determined.pytorch.*.should_stop": "asked by upstream's loop",
    "determined.pytorch.*Context.autocast_forward_pass": "called by upstream's loop around forward",
    "determined.pytorch.*Context.model": "set by upstream's configure_apex_amp; wrap_model returns the model",
    "determined.pytorch*Context.run_cross_slot_reduction": "called by upstream's reducers",
    "determined.pytorch.experimental.*.reduce_metrics": "called by upstream's torch_batch_process",
    "determined.pytorch.experimental.*.reset_reducers": "called by upstream's torch_batch_process",
    "determined.pytorch.samplers.*": "state of an iterator",
    "determined.*DistributedContext.tempdir": "where upstream's sockets lie",
    "determined.keras.TFKerasTrialContext.*": "filled by upstream's controller",
    "determined.keras.TFKerasTrainConfig": "passed between upstream's context and controller",
    "determined.keras.?et_rng_state": "called by upstream's controller; ours is in the checkpoint",
    "determined.keras.callbacks.*_count": "a counter of upstream's implementation",
    "determined.keras.*TensorBoard.*": "ours derives from Keras's callback; these hooks do nothing there",
    "determined.keras.callbacks.logger": "no name for users",
    "determined.keras.callbacks.tensorboard": "no name for users",
    "determined.lightning.experimental.DetLogger.*": "save() is Lightning's own",
    "determined.lightning.experimental.core_v2": "no name for users",
    "determined.lightning.experimental.experimental": "no name for users",
    "determined.transformers.DetCallback.last_*": "a counter of upstream's implementation",
    "determined.transformers.DetCallback.load_last_checkpoint": "called by upstream's constructor",
    # Read from the source, which does not show it.
    "determined.experimental.client.*OrderBy.*": "given by a metaclass; tested in test_client_names",
    "determined.experimental.client.[CT]": "a type variable",
    "determined.experimental.client.logger": "no name for users",
}  # fmt: skip


def _official() -> Package:
    venv = Path(os.environ.get("DET_TEST_OFFICIAL", str(ROOT / ".venv-official")))
    found = next(venv.glob("lib/python3*/site-packages/determined"), None)
    assert found is not None, f"the official client is not installed in {venv}; run: make official"
    return Package(found)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_and_parameter_of_the_official_wheel_is_here(module: str) -> None:
    official, ours = _official(), Package(ROOT / "src" / "determined")
    differences = [d for name in official.public_names(module) for d in _compared(official, ours, module, name)]
    assert [d for d in differences if not any(fnmatch(d[0], pattern) for pattern in ALLOWED)] == []


def test_no_allowed_difference_is_out_of_date() -> None:
    official, ours = _official(), Package(ROOT / "src" / "determined")
    seen = [d[0] for m in MODULES for name in official.public_names(m) for d in _compared(official, ours, m, name)]
    assert [pattern for pattern in ALLOWED if not any(fnmatch(each, pattern) for each in seen)] == []


def _compared(official: Package, ours: Package, module: str, name: str) -> list[tuple[str, str]]:
    where, theirs, own = f"{module}.{name}", official.find(module, name), ours.find(module, name)
    if theirs is None:
        return []
    if own is None:
        return [(where, "is missing")]
    if isinstance(theirs, Signature) and isinstance(own, Signature):
        return [(where, difference) for difference in _parameters(theirs, own)]
    if isinstance(theirs, Class) and isinstance(own, Class):
        return _members(where, theirs, own)
    return [] if type(theirs) is type(own) or isinstance(own, Class) else [(where, f"is {own}, not {theirs}")]


def _members(where: str, theirs: Class, own: Class) -> list[tuple[str, str]]:
    missing = sorted(name for name in theirs.attributes - own.attributes if not name.startswith("_"))
    found = [(f"{where}.{name}", "is missing") for name in missing]
    for name, signature in theirs.methods.items():
        if name in own.methods and (name == "__init__" or not name.startswith("_")):
            found += [(f"{where}.{name}", each) for each in _parameters(signature, own.methods[name])]
    return found


def _parameters(theirs: Signature, own: Signature) -> list[str]:
    if own.open:
        return []
    found = [f"has no parameter {name}" for name in theirs.names if name not in own.names]
    found += [f"requires {name}" for name in own.names if name in own.required - theirs.required]
    shared = [name for name in theirs.positional if name in own.positional]
    moved = [name for name in shared if theirs.positional.index(name) != own.positional.index(name)]
    return found or [f"has {name} at another place" for name in moved]
