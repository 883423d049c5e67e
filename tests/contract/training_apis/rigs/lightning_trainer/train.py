"""Lightning's own Trainer, with what the context adds to its arguments."""

import lightning.pytorch as L
from module import Regression, points
from torch.utils.data import DataLoader

import determined as det
from determined import lightning as det_lightning


def main() -> None:
    with det_lightning.init() as context:
        lr = float(context.hparams["lr"])
        if lr < 0:
            raise det.InvalidHP("lr is negative")
        quiet = {"enable_model_summary": False, "enable_progress_bar": False}
        trainer = L.Trainer(**context.trainer_kwargs(max_epochs=3, log_every_n_steps=2, **quiet))
        loaders = DataLoader(points(), batch_size=4, shuffle=True), DataLoader(points(), batch_size=4)
        trainer.fit(Regression(lr), *loaders, ckpt_path=context.resume_path())


if __name__ == "__main__":
    main()
