"""Logs of a Trainer of Hugging Face as reports: group, names and lengths."""

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from determined.transformers._lengths import check_lengths, check_strategies
from determined.transformers._logs import chosen, group_of, is_summary
from determined.transformers._reports import Reports


class Recorded:
    """A core context that keeps what is reported."""

    def __init__(self, rank: int = 0) -> None:
        self.told: list[tuple[str, int, dict[str, Any]]] = []
        self.distributed = SimpleNamespace(rank=rank)
        self.train = SimpleNamespace(report_metrics=lambda *report: self.told.append(report))


def reports(*needed: str, rank: int = 0) -> tuple[Reports, list[tuple[str, int, dict[str, Any]]]]:
    context: Any = Recorded(rank)
    return Reports(context, list(needed)), context.told


@pytest.mark.parametrize(
    ("logs", "group"),
    [({"loss": 1}, "training"), ({"eval_loss": 1}, "validation"), ({"test_acc": 1}, "test"), ({}, "training")],
)
def test_the_prefix_of_names_is_their_group(logs: dict[str, Any], group: str) -> None:
    assert group_of(logs) == group


def test_times_and_epochs_are_no_metrics_and_wanted_parts_choose_among_the_rest() -> None:
    logs = {"eval_loss": 1, "eval_acc": 2, "epoch": 3, "eval_runtime": 4, "eval_samples_per_second": 5}
    assert chosen(logs, None, []) == {"eval_loss": 1, "eval_acc": 2}
    assert chosen(logs, ["acc"], []) == {"eval_acc": 2}
    assert chosen(logs, [], ["eval_loss"]) == {"eval_loss": 1}


def test_the_summary_of_a_training_is_told_from_its_logs() -> None:
    assert is_summary({"train_runtime": 1.0, "train_loss": 0.1})
    assert not is_summary({"loss": 0.1, "train_runtime": 1.0})
    assert not is_summary({"loss": 0.1})


def test_each_name_is_reported_once_a_step() -> None:
    made, told = reports()
    made.report("validation", 5, {"eval_loss": 1, "batches": 5})
    made.report("validation", 5, {"eval_loss": 1, "batches": 5})
    made.report("validation", 5, {"eval_loss": 1, "eval_acc": 2, "batches": 5})
    made.report("validation", 6, {"eval_loss": 3})
    assert told == [
        ("validation", 5, {"eval_loss": 1, "batches": 5}),
        ("validation", 5, {"eval_acc": 2, "batches": 5}),
        ("validation", 6, {"eval_loss": 3}),
    ]


def test_of_a_training_step_only_the_first_report_counts() -> None:
    made, told = reports()
    made.report("training", 5, {"loss": 1})
    made.report("training", 5, {"train_loss": 2})
    made.report("training", 6, {"batches": 6, "epochs": 1})
    assert told == [("training", 5, {"loss": 1})]


def test_workers_report_nothing() -> None:
    made, told = reports(rank=1)
    made.report("training", 5, {"loss": 1})
    assert told == []


def test_parts_of_a_validation_are_told_together_once_nothing_is_missing() -> None:
    made, told = reports("eval_b_loss")
    made.tell_validation()
    made.add_validation(5, {"eval_a_loss": 1})
    made.tell_validation(is_complete=False)
    assert told == []
    made.add_validation(5, {"eval_b_loss": 2})
    made.tell_validation(is_complete=False)
    made.tell_validation()
    assert told == [("validation", 5, {"eval_a_loss": 1, "eval_b_loss": 2})]


def test_a_validation_without_the_searchers_metric_is_an_error_that_names_what_there_is() -> None:
    made, told = reports("eval_acc", "eval_f1")
    made.add_validation(7, {"eval_loss": 1, "eval_f1": 1})
    with pytest.raises(ValueError, match=r"step 7 has no eval_acc, .*; it has eval_f1, eval_loss\. Return it from"):
        made.tell_validation()
    assert told == []


def test_a_validation_of_an_earlier_process_is_not_told_again() -> None:
    made, told = reports()
    made.remember(5, {"eval_loss": 1})
    made.report("validation", 5, {"eval_loss": 1})
    made.report("validation", 5, {"eval_loss": 1, "eval_acc": 2})
    assert told == [("validation", 5, {"eval_acc": 2})]


def arguments(**changes: Any) -> Any:
    fields = {"max_steps": -1, "num_train_epochs": 3.0, "eval_strategy": "epoch", "save_only_model": False}
    return SimpleNamespace(**(fields | changes))


def classic(**length: int) -> dict[str, Any]:
    return {"searcher": {"name": "single", "metric": "eval_loss", "max_length": length}}


@pytest.mark.parametrize(
    ("config", "args"),
    [
        ({}, {}),
        (classic(epochs=3), {}),
        (classic(batches=100), {"max_steps": 100}),
        (classic(records=6400), {"max_steps": 100}),
        ({"searcher": {"name": "single", "metric": "x", "max_length": 3}}, {}),
    ],
)
def test_lengths_that_agree_are_not_worth_a_word(
    config: dict[str, Any], args: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    check_lengths(config, arguments(**args), 64)
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("config", "args", "words"),
    [
        (classic(epochs=5), {}, "asks for 5 epochs, and TrainingArguments has num_train_epochs=3.0; set num_train"),
        (classic(epochs=2), {}, "the searcher stops the training, but the learning rate follows the script's length"),
        (classic(epochs=5), {}, "the script ends before the searcher's operations do"),
        (classic(epochs=3), {"max_steps": 9}, "set num_train_epochs=3 without max_steps, which goes before it"),
        (classic(batches=10), {}, "if that is less, the searcher stops the training"),
    ],
)  # fmt: skip
def test_lengths_that_differ_are_told_where_the_searcher_stops_the_training(
    config: dict[str, Any], args: dict[str, Any], words: str, caplog: pytest.LogCaptureFixture
) -> None:
    check_lengths(config, arguments(**args), 64)
    assert words in caplog.text


def test_lengths_that_differ_are_an_error_where_nobody_would_stop_the_training() -> None:
    late = {
        "searcher": {
            "name": "single",
            "metric": "x",
            "max_length": {"epochs": 5},
            "time_metric": "epochs",
            "max_time": 5,
        }
    }
    with pytest.raises(ValueError, match=r"searcher\.max_length asks for 5 epochs"):
        check_lengths(late, arguments(), 64)


def test_a_search_needs_validations() -> None:
    with pytest.raises(ValueError, match='eval_strategy is "no"; set eval_strategy="epoch"'):
        check_strategies(classic(epochs=3), arguments(eval_strategy=SimpleNamespace(value="no")))
    check_strategies(classic(epochs=3), arguments())


def test_checkpoints_without_an_optimizer_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="determined.transformers"):
        check_strategies({}, arguments(save_only_model=True))
    assert "save_only_model leaves the optimizer out of checkpoints" in caplog.text
