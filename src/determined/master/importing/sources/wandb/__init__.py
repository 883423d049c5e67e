"""Reader of the directories that W&B writes beside a script. The package `wandb` is not needed."""
