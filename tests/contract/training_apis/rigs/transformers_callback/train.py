"""Hugging Face's Trainer of a tiny BERT, with one callback of Determined."""

from typing import Any

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

import determined as det
from determined.transformers import DetCallback


class Words(torch.utils.data.Dataset):
    def __init__(self) -> None:
        self._words = torch.randint(0, 10, (16, 6), generator=torch.Generator().manual_seed(1))

    def __len__(self) -> int:
        return len(self._words)

    def __getitem__(self, index: int) -> dict[str, Any]:
        words = self._words[index]
        return {"input_ids": words, "labels": int(words[0] > 4)}


def main(**chosen: Any) -> None:
    info = det.get_cluster_info()
    lr = float(info.trial.hparams["lr"])
    set_seed(info.trial.trial_seed)
    usual = {
        "output_dir": "output",
        "use_cpu": True,
        "per_device_train_batch_size": 4,
        "learning_rate": abs(lr) / 10,
        "num_train_epochs": 3,
        "logging_steps": 2,
        "eval_strategy": "epoch",
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
        "seed": info.trial.trial_seed,
    }
    args = TrainingArguments(**{**usual, **chosen})
    with det.core.init() as core_context:
        if lr < 0:
            raise det.InvalidHP("lr is negative")
        sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
        config = BertConfig(vocab_size=10, max_position_embeddings=8, num_labels=2, **sizes)
        model = BertForSequenceClassification(config)
        callback = DetCallback(core_context, args)
        trainer = Trainer(model, args, train_dataset=Words(), eval_dataset=Words(), callbacks=[callback])
        trainer.train(resume_from_checkpoint=args.resume_from_checkpoint)


if __name__ == "__main__":
    main()
