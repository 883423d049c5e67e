"""Hugging Face's Trainer with one callback of Determined: a tiny BERT, made on the spot, tells good sentences from bad.

Nothing is downloaded: the words, the tokenizer, the sentences and the model's first weights are all made here.
"""

import logging
import random

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    DataCollatorWithPadding,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
    set_seed,
)

import determined as det

GOOD = ["fine", "sweet", "bright", "warm", "gentle"]
BAD = ["dull", "bitter", "grey", "cold", "harsh"]
PLAIN = ["the", "a", "day", "was", "and", "song", "walk", "very", "long", "we", "had"]


def make_tokenizer() -> PreTrainedTokenizerFast:
    words = ["[PAD]", "[UNK]", *GOOD, *BAD, *PLAIN]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]")


class Sentences(torch.utils.data.Dataset):
    """A sentence is good if most of its telling words are."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast, count: int, seed: int) -> None:
        draws = random.Random(seed)
        self._records = [self._record(tokenizer, draws) for _ in range(count)]

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, index: int) -> dict:
        return self._records[index]

    @staticmethod
    def _record(tokenizer: PreTrainedTokenizerFast, draws: random.Random) -> dict:
        telling = [draws.choice(GOOD + BAD) for _ in range(3)]
        words = telling + draws.choices(PLAIN, k=draws.randint(3, 8))
        draws.shuffle(words)
        label = int(sum(word in GOOD for word in telling) >= 2)
        return {**tokenizer(" ".join(words), return_token_type_ids=False), "label": label}


def accuracy(prediction: tuple) -> dict[str, float]:
    logits, labels = prediction
    return {"accuracy": float((logits.argmax(-1) == labels).mean())}


def make_model(tokenizer: PreTrainedTokenizerFast, width: int) -> BertForSequenceClassification:
    sizes = {"hidden_size": width, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 2 * width}
    config = BertConfig(vocab_size=len(tokenizer), max_position_embeddings=32, num_labels=2, **sizes)
    model = BertForSequenceClassification(config)
    # Its loss is a mean over the batch. A Trainer takes it for a sum over all ranks' items, because forward() has
    # **kwargs, and would multiply loss and gradients by the number of ranks.
    model.accepts_loss_kwargs = False
    return model


def make_arguments(hparams: dict, seed: int) -> TrainingArguments:
    sharding = (
        {"fsdp": True, "fsdp_config": {"transformer_layer_cls_to_wrap": ["BertLayer"]}} if hparams["fsdp"] else {}
    )
    return TrainingArguments(
        output_dir="output",
        use_cpu=not torch.cuda.is_available(),
        per_device_train_batch_size=hparams["batch_size"],
        learning_rate=hparams["lr"],
        num_train_epochs=hparams["epochs"],
        logging_steps=5,
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=1,
        report_to="none",
        disable_tqdm=True,
        seed=seed,
        **sharding,
    )


def shard_on_cpu() -> None:
    """Accelerate shards a model over accelerators alone; where there are none it is told that CPUs are some."""
    from accelerate import PartialState
    from accelerate.utils import DistributedType

    if PartialState().distributed_type == DistributedType.MULTI_CPU:
        PartialState().distributed_type = DistributedType.MULTI_XPU


def main() -> None:
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    info = det.get_cluster_info()
    hparams = {"lr": 3e-3, "batch_size": 16, "width": 32, "epochs": 2, "fsdp": False}
    hparams |= info.trial.hparams if info else {}
    seed = info.trial.trial_seed if info else 0
    set_seed(seed)
    args = make_arguments(hparams, seed)
    if hparams["fsdp"]:
        shard_on_cpu()
    distributed = det.core.DistributedContext.from_torch_distributed() if args.world_size > 1 else None
    with det.core.init(distributed=distributed) as core_context:
        callbacks = []
        if info:
            from determined.transformers import DetCallback

            callbacks.append(DetCallback(core_context, args, user_data={"labels": ["bad", "good"]}))
        tokenizer = make_tokenizer()
        trainer = Trainer(
            make_model(tokenizer, hparams["width"]),
            args,
            train_dataset=Sentences(tokenizer, 320, seed=1),
            eval_dataset=Sentences(tokenizer, 160, seed=2),
            data_collator=DataCollatorWithPadding(tokenizer),
            compute_metrics=accuracy,
            callbacks=callbacks,
        )
        trainer.train(resume_from_checkpoint=args.resume_from_checkpoint)


if __name__ == "__main__":
    main()
