"""Whether the script trains as long, and validates and saves as often, as the searcher's config asks for."""

import logging
from typing import Any

from determined.config.generations import generation
from determined.trial import records_to_batches

logger = logging.getLogger("determined.transformers")


def check_lengths(config: dict[str, Any], args: Any, global_batch_size: int) -> None:
    """Compare `searcher.max_length` with the TrainingArguments.

    Where the searcher hands out operations it stops the training itself, and a difference is only told: the learning
    rate's schedule goes by the script's length.

    Raises:
        ValueError: they differ, and nobody would stop the training at the searcher's length.
    """
    asked = (config.get("searcher") or {}).get("max_length")
    if asked is None:
        return
    unit, length = next(iter(asked.items())) if isinstance(asked, dict) else ("epochs", asked)
    if unit == "records":
        unit, length = "batches", records_to_batches(int(length), global_batch_size)
    given_unit, given = ("batches", args.max_steps) if args.max_steps > 0 else ("epochs", args.num_train_epochs)
    if unit == given_unit and float(length) == float(given):
        return
    name = {"batches": "max_steps", "epochs": "num_train_epochs"}
    difference = (
        f"searcher.max_length asks for {length} {unit}, and TrainingArguments has {name[given_unit]}={given}; "
        f"set {name[unit]}={length}"
    )
    if generation(config) != "classic":
        raise ValueError(difference)
    logger.warning("%s: the searcher stops the training, but the learning rate follows the script's length", difference)


def check_strategies(args: Any) -> None:
    """Raises ValueError where a Trainer would not validate and save at the end of an operation when it is told to."""
    if name_of(args.eval_strategy) == "no":
        raise ValueError('the searcher compares validations, and eval_strategy is "no"; set eval_strategy="epoch"')
    if name_of(args.save_strategy) == "best":
        raise ValueError(
            'save_strategy="best" saves nothing where an operation of the searcher ends; set save_strategy="epoch"'
        )


def name_of(strategy: Any) -> str:
    """Of an interval strategy, which may be an enum or its value."""
    return str(getattr(strategy, "value", strategy))
