"""The Native API off cluster: what it refuses, what it would submit, and the try-out on one batch."""

import sys
from pathlib import Path
from typing import Any

import pytest

import determined as det
from determined.experimental import Mode, _native, create

HPARAMS = {"hyperparameters": {"global_batch_size": 4}}


class SentConfigs:
    """Stands for `Determined`: keeps what would be submitted."""

    def __init__(self) -> None:
        self.sent: list[tuple[dict[str, Any], Path]] = []

    def __call__(self, master: str | None) -> "SentConfigs":
        return self

    def create_experiment(self, config: dict[str, Any], model_dir: Path) -> Any:
        self.sent.append((config, model_dir))
        return type("Experiment", (), {"id": 7})()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, off_cluster: Path, tmp_path: Path) -> SentConfigs:
    made = SentConfigs()
    monkeypatch.setattr(_native, "Determined", made)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").touch()
    monkeypatch.setattr(sys, "argv", ["code/train.py", "--lr", "0.1"])
    return made


def test_a_script_submits_itself_with_its_arguments(sent: SentConfigs, capsys: pytest.CaptureFixture[str]) -> None:
    made = create(object, {"name": "n", **HPARAMS}, context_dir="code")
    config, directory = sent.sent[0]
    assert config["entrypoint"][-4:] == ["python3", "train.py", "--lr", "0.1"]
    assert (config["name"], directory, made.id) == ("n", Path("code"), 7)
    assert capsys.readouterr().out == "Created experiment 7\n"


def test_a_command_may_be_given_where_there_is_no_script(sent: SentConfigs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/lib/ipykernel_launcher", "-f", "x.json"])
    create(object, command=["train.py"], context_dir="code")
    assert sent.sent[0][0]["entrypoint"][-1] == "train.py"
    with pytest.raises(ValueError, match=r"pass command=\['train.py'"):
        create(object, context_dir="code")


def test_a_test_on_the_cluster_is_short(sent: SentConfigs) -> None:
    create(object, {"searcher": {"name": "random", "metric": "loss", "max_trials": 9}}, test=True, context_dir="code")
    assert sent.sent[0][0]["searcher"] == {"name": "single", "max_length": {"batches": 1}, "metric": "loss"}


def test_an_entrypoint_of_the_config_is_kept_without_a_class(sent: SentConfigs) -> None:
    create(config={"entrypoint": "model_def:MyTrial"}, context_dir="code")
    assert sent.sent[0][0]["entrypoint"] == "model_def:MyTrial"
    with pytest.raises(ValueError, match="neither trial_def nor an entrypoint"):
        create(config={})


def test_a_trial_that_imports_the_script_does_not_submit_it_again(
    sent: SentConfigs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_native, "running_trial", object)
    assert create(config={"entrypoint": "model_def:MyTrial"}, context_dir="code") is None
    assert sent.sent == []


def test_a_script_outside_of_the_context_directory_is_refused(sent: SentConfigs, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with pytest.raises(ValueError, match="is not in context_dir='other'"):
        create(object, context_dir="other")


def test_local_training_needs_test(sent: SentConfigs) -> None:
    with pytest.raises(ValueError, match="local=True needs test=True"):
        create(object, local=True)


@pytest.mark.parametrize("entrypoint", ["python3 train.py", ["python3", "train.py"], "model_def"])
def test_a_script_cannot_be_tried_on_one_batch_and_the_way_to_try_it_is_named(
    sent: SentConfigs, entrypoint: Any
) -> None:
    with pytest.raises(ValueError, match=r"names no trial class.*module:Class.*det experiment create --local"):
        create(config={"entrypoint": entrypoint}, local=True, test=True, context_dir="code")
    assert sent.sent == []


@pytest.mark.parametrize("how", [{"local": True, "test": True}, {"local": Mode.LOCAL}, {"mode": Mode.LOCAL}])
def test_a_class_is_tried_on_one_batch_in_this_process(
    how: dict[str, Any], off_cluster: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    sys.path.insert(0, str(Path(__file__).parents[1] / "pytorch"))
    from small_trial import SmallTrial

    trial = det.create(SmallTrial, {"hyperparameters": {"global_batch_size": 4, "lr": 0.1}}, **how)
    assert isinstance(trial, SmallTrial)
    assert capsys.readouterr().out.endswith("Local test succeeded\n")


def test_keras_and_estimator_scripts_end_once_they_are_submitted(sent: SentConfigs) -> None:
    for init in (det.experimental.keras.init, det.experimental.estimator.init):  # type: ignore[attr-defined]
        with pytest.raises(SystemExit) as ended:
            init({"name": "n"}, context_dir="code")
        assert ended.value.code == 0
    assert len(sent.sent) == 2
