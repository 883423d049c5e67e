"""`determined.keras` where there is no Keras."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _without_keras(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("keras", "tensorflow"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in [name for name in sys.modules if name.startswith("determined.keras")]:
        monkeypatch.delitem(sys.modules, name)


def test_the_package_can_be_imported_without_keras() -> None:
    import determined.keras

    assert "DeterminedCallback" in dir(determined.keras)


@pytest.mark.parametrize("name", ["DeterminedCallback", "TensorBoard"])
def test_a_callback_says_which_extra_to_install(name: str) -> None:
    import determined.keras

    with pytest.raises(ImportError, match=r"pip install 'redetermined\[keras\]'"):
        getattr(determined.keras, name)


@pytest.mark.parametrize(
    "name", ["TFKerasTrial", "TFKerasTrialContext", "callbacks", "load_model_from_checkpoint_path"]
)
def test_what_runs_on_tensorflow_alone_says_so(name: str) -> None:
    import determined.keras

    with pytest.raises(ImportError, match=r"pip install 'redetermined\[tensorflow\]'"):
        getattr(determined.keras, name)


def test_a_name_that_is_none_is_an_attribute_error() -> None:
    import determined.keras

    with pytest.raises(AttributeError, match="Trialer"):
        _ = determined.keras.Trialer
