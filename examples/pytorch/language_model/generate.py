"""Write text with a trained model: `python3 generate.py DIRECTORY`, where a checkpoint lies.

However many ranks have saved it, one process loads it.
"""

import sys

import torch
from data import decode, encode
from model import continued

from determined import pytorch


def main(directory: str) -> None:
    trial = pytorch.load_trial_from_checkpoint_path(directory)
    trial.model.eval()
    print(decode(continued(trial.model, encode("\nthe "), 120, torch.Generator().manual_seed(0))))


if __name__ == "__main__":
    main(sys.argv[1])
