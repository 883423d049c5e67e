"""Pictures in MNIST's shape, made on the spot: each digit is a pattern of its own under noise."""

import numpy as np

CLASSES = 10


def digits(records: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(pictures of 28 x 28 numbers, labels)."""
    patterns = np.random.default_rng(0).random((CLASSES, 28, 28), dtype=np.float32)
    noise = np.random.default_rng(seed)
    labels = noise.integers(CLASSES, size=records)
    pictures = patterns[labels] + noise.normal(scale=0.7, size=(records, 28, 28))
    return pictures.astype(np.float32), labels.astype(np.int64)
