"""Checks that the script trains as long, and validates and saves as often, as the searcher's config asks for."""

import logging
from typing import TYPE_CHECKING

from determined._json import JsonObject
from determined.search.generations import generation
from determined.search.registry import searcher_of
from determined.trial import records_to_batches

if TYPE_CHECKING:
    from transformers import TrainingArguments

logger = logging.getLogger("determined.transformers")

_TOO_LONG = "the searcher stops the training, but the learning rate follows the script's length"
_TOO_SHORT = "the script ends before the searcher's operations do, and a search takes such a trial for its worst"
_EITHER = f"if that is less, {_TOO_LONG}; if it is more, {_TOO_SHORT}"


def check_lengths(config: JsonObject, args: "TrainingArguments", global_batch_size: int) -> None:
    """Compare `searcher.max_length` with the TrainingArguments.

    Where the searcher hands out operations it stops the training itself, and a difference is only told: the learning
    rate's schedule goes by the script's length.

    Raises:
        ValueError: they differ, and nobody would stop the training at the searcher's length.
    """
    max_length = (config.get("searcher") or {}).get("max_length")
    if max_length is None:
        return
    unit, length = next(iter(max_length.items())) if isinstance(max_length, dict) else ("epochs", max_length)
    if unit == "records":
        unit, length = "batches", records_to_batches(int(length), global_batch_size)
    given_unit, given = ("batches", args.max_steps) if args.max_steps > 0 else ("epochs", args.num_train_epochs)
    if unit == given_unit and float(length) == float(given):
        return
    name = {"batches": "max_steps", "epochs": "num_train_epochs"}
    overruling = " without max_steps, which goes before it" if (unit, given_unit) == ("epochs", "batches") else ""
    difference = (
        f"searcher.max_length asks for {length} {unit}, and TrainingArguments has {name[given_unit]}={given}; "
        f"set {name[unit]}={length}{overruling}"
    )
    if generation(config) != "classic":
        raise ValueError(difference)
    shown = _TOO_SHORT if given < length else _TOO_LONG
    logger.warning("%s: %s", difference, shown if unit == given_unit else _EITHER)


def check_strategies(config: JsonObject, args: "TrainingArguments") -> None:
    """Raise ValueError where a Trainer would not validate at the end of an operation though it is told to."""
    if args.save_only_model:
        logger.warning(
            "save_only_model leaves the optimizer out of checkpoints: a trial that is paused or restarted goes on with "
            "a new one, and its metrics differ"
        )
    if name_of(args.eval_strategy) != "no":
        return
    if generation(config) == "classic":
        raise ValueError('the searcher compares validations, and eval_strategy is "no"; set eval_strategy="epoch"')
    if searcher_of(config).is_multi_trial:
        logger.warning(
            'eval_strategy is "no": the searcher hears of a trial only where the script calls trainer.evaluate; set '
            'eval_strategy="epoch"'
        )


def name_of(strategy: object) -> str:
    """Return the name of an interval strategy, which may be an enum or its value."""
    return str(getattr(strategy, "value", strategy))
