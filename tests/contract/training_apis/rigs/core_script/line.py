"""A line fitted to points by gradient descent, in plain Python: its whole state is JSON."""

import random

POINTS = [(x / 8 - 1, 3 * (x / 8 - 1) + 1) for x in range(16)]


class Line:
    def __init__(self, lr: float, seed: int) -> None:
        self.lr = lr
        self.slope, self.offset = 0.0, 0.0
        self.order: list[int] = []
        self.draws = random.Random(seed)

    def train_batch(self) -> float:
        """Train on the next four points of a shuffled order; return their loss."""
        if not self.order:
            self.order = self.draws.sample(range(16), 16)
        batch, self.order = [POINTS[i] for i in self.order[:4]], self.order[4:]
        errors = [(x, self.slope * x + self.offset - y) for x, y in batch]
        self.slope -= self.lr * sum(error * x for x, error in errors) / 2
        self.offset -= self.lr * sum(error for _, error in errors) / 2
        return sum(error**2 for _, error in errors) / 4

    def loss(self) -> float:
        return sum((self.slope * x + self.offset - y) ** 2 for x, y in POINTS) / len(POINTS)

    def state(self) -> dict:
        version, numbers, gauss = self.draws.getstate()
        return {"slope": self.slope, "offset": self.offset, "order": self.order, "draws": [version, numbers, gauss]}

    def load(self, state: dict) -> None:
        self.slope, self.offset, self.order = state["slope"], state["offset"], state["order"]
        version, numbers, gauss = state["draws"]
        self.draws.setstate((version, tuple(numbers), gauss))
