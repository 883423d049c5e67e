"""Record the tables of search_quality_tasks.py: scikit-learn's learners, small torch networks, formulas.

    nice python benchmarks/search_quality_record.py [--only TASK ...]

Some ten minutes of one core. Every point of a task's grid is trained for all its epochs; seeds are fixed, so a table
is the same wherever the same versions run on the same kind of processor. A training that diverged stays at a ceiling,
as not every library takes a metric that is no number; `made_diverging` has NaN and jumps of a million.
"""

import argparse
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from search_quality_tasks import TABLES, TASKS, Task

Values = dict[str, Any]
Data = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # inputs and answers: of training, of validation


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=list(TASKS), choices=list(TASKS))
    options = parser.parse_args()
    curves = dict(np.load(TABLES)) if TABLES.exists() else {}
    for name in options.only:
        began = time.process_time()
        curves[name] = record(TASKS[name])
        np.savez_compressed(TABLES, **curves)
        best, typical = np.nanmin(curves[name]), np.nanmedian(curves[name][:, -1])
        seconds = time.process_time() - began
        print(f"{name}: {curves[name].shape}, best {best:.4f}, median {typical:.4f}, {seconds:.0f} s", flush=True)
    return 0


def record(task: Task) -> np.ndarray:
    """Train every point: a row for each, the validation loss after each epoch."""
    data = _DATA[task.options["data"]]() if "data" in task.options else None
    rows = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for number, point in enumerate(task.points()):
            curve = np.array(list(_KINDS[task.kind](task, task.values(point), data, number)))
            rows.append(curve)
    table = np.array(rows)
    if task.made:
        return table.astype(np.float32)
    ceiling = 3 * float(np.median(table[np.isfinite(table[:, 0]), 0]))
    return np.where(np.isfinite(table), np.minimum(table, ceiling), ceiling).astype(np.float32)


def perceptron(task: Task, values: Values, data: Data, seed: int) -> Iterator[float]:
    from sklearn import neural_network

    regresses = data[1].dtype.kind == "f"
    kind = neural_network.MLPRegressor if regresses else neural_network.MLPClassifier
    model = kind(
        hidden_layer_sizes=(values["width"],),
        solver="adam" if values["solver"] == "adam" else "sgd",
        momentum=0.9 if values["solver"] == "momentum" else 0.0,
        learning_rate_init=values["learning_rate"],
        alpha=values["alpha"],
        batch_size=64,
        random_state=seed,
    )
    return _epochs(task, model, data)


def linear(task: Task, values: Values, data: Data, seed: int) -> Iterator[float]:
    from sklearn import linear_model

    model = linear_model.SGDClassifier(
        loss="log_loss",
        eta0=values["eta0"],
        alpha=values["alpha"],
        learning_rate=values["schedule"],
        penalty=values["penalty"],
        random_state=seed,
    )
    return _epochs(task, model, data)


def _epochs(task: Task, model: Any, data: Data) -> Iterator[float]:
    """Train an incremental learner; what diverges is NaN from there on."""
    x, y, x_val, y_val = data
    classes = None if y.dtype.kind == "f" else np.unique(y)
    for epoch in range(task.epochs):
        try:
            model.partial_fit(x, y) if classes is None else model.partial_fit(x, y, classes=classes)
        except ValueError as e:
            if "non-finite" not in str(e) and "overflow" not in str(e):
                raise
            yield from [math.nan] * (task.epochs - epoch)
            return
        yield _loss(model, x_val, y_val)


def _loss(model: Any, x: np.ndarray, y: np.ndarray) -> float:
    if y.dtype.kind == "f":
        return float(np.mean((y - model.predict(x)) ** 2))
    return _log_loss(model.predict_proba(x), y)


def _log_loss(chances: np.ndarray, y: np.ndarray) -> float:
    picked = chances[np.arange(len(y)), y]
    return float(-np.log(np.clip(picked, 1e-7, 1)).mean())


def boosting(task: Task, values: Values, data: Data, seed: int) -> list[float]:
    from sklearn import ensemble

    x, y, x_val, y_val = data
    regresses = y.dtype.kind == "f"
    kind = ensemble.GradientBoostingRegressor if regresses else ensemble.GradientBoostingClassifier
    model = kind(
        n_estimators=task.epochs,
        learning_rate=values["learning_rate"],
        max_depth=values["depth"],
        subsample=values["subsample"],
        max_features=values["features"],
        random_state=seed,
    ).fit(x, y)
    if regresses:
        return [float(np.mean((y_val - predicted) ** 2)) for predicted in model.staged_predict(x_val)]
    return [_log_loss(chances, y_val) for chances in model.staged_predict_proba(x_val)]


def network(task: Task, values: Values, data: Data, seed: int) -> Iterator[float]:
    """A small torch classifier whose schedule may lower the rate late: its curves cross those of constant ones."""
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    x, y, x_val, y_val = (torch.from_numpy(one) for one in data)
    width, classes = task.options["width"], int(y.max()) + 1
    layers = [torch.nn.Linear(x.shape[1], width), torch.nn.ReLU(), torch.nn.Linear(width, width), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(width, classes))
    optimizer = _optimizer(values, list(model.parameters()))
    schedule = _schedule(values["schedule"], optimizer, task.epochs)
    loss_of = torch.nn.functional.cross_entropy
    for _ in range(task.epochs):
        for rows in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            loss_of(model(x[rows]), y[rows]).backward()
            optimizer.step()
        schedule.step()
        with torch.no_grad():
            yield float(loss_of(model(x_val), y_val))


def factors(task: Task, values: Values, data: None, seed: int) -> Iterator[float]:
    """Factorise made ratings of users for items, of which a tenth are known."""
    import torch

    torch.set_num_threads(1)
    world = np.random.default_rng(7)
    users, items, rank = 120, 80, 4
    truth = world.normal(size=(users, rank)) @ world.normal(size=(rank, items)) / 2
    ratings = torch.from_numpy((truth + 0.5 * world.normal(size=truth.shape)).astype(np.float32))
    kind = torch.from_numpy(world.random(truth.shape).astype(np.float32))
    known, asked = kind < 0.2, (kind >= 0.2) & (kind < 0.4)
    torch.manual_seed(seed)
    left = torch.nn.Parameter(0.1 * torch.randn(users, values["rank"]))
    right = torch.nn.Parameter(0.1 * torch.randn(values["rank"], items))
    optimizer = _optimizer(values, [left, right])
    for _ in range(task.epochs):
        for _ in range(4):
            optimizer.zero_grad()
            error = ((left @ right - ratings)[known] ** 2).mean()
            (error * 10).backward()
            optimizer.step()
        with torch.no_grad():
            yield float(((left @ right - ratings)[asked] ** 2).mean())


def _optimizer(values: Values, parameters: list[Any]) -> Any:
    import torch

    rate, decay = values["learning_rate"], values["weight_decay"]
    if values["optimizer"] == "adam":
        return torch.optim.AdamW(parameters, lr=rate / 3, weight_decay=decay * 10)
    return torch.optim.SGD(parameters, lr=rate, momentum=0.9, weight_decay=decay)


def _schedule(name: str, optimizer: Any, epochs: int) -> Any:
    import torch

    if name == "cosine":
        return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    if name == "step":
        return torch.optim.lr_scheduler.MultiStepLR(optimizer, [epochs * 2 // 3, epochs * 7 // 8], gamma=0.1)
    return torch.optim.lr_scheduler.ConstantLR(optimizer, factor=1.0)


def crossing(task: Task, values: Values, data: None, seed: int) -> list[float]:
    """Fast learners are first for most of the way, slow ones end best."""
    goal, _ = _landscape(values)
    speed = 0.02 * 1.45 ** values["rate"]
    floor = 0.1 + goal + 0.05 * values["rate"]
    return [floor + (1.5 - floor) * math.exp(-speed * (epoch + 1)) for epoch in range(task.epochs)]


def noisy(task: Task, values: Values, data: None, seed: int) -> list[float]:
    """Return a curve whose every report is off by as much as a quarter of all trials differ."""
    goal, speed = _landscape(values)
    noise = np.random.default_rng(seed).normal(scale=0.12, size=task.epochs)
    return [0.2 + goal + math.exp(-speed * (epoch + 1)) + abs(float(off)) for epoch, off in enumerate(noise)]


def decayed(task: Task, values: Values, data: None, seed: int) -> list[float]:
    """A schedule that lowers the rate at two thirds: high rates look worst before and are best after it."""
    goal, speed = _landscape(values)
    before = 0.5 + goal + 0.04 * values["rate"]
    after = 0.2 + goal + 0.02 * (11 - values["rate"])
    turn = task.epochs * 2 // 3
    return [
        (before + 0.6 * math.exp(-speed * (epoch + 1)))
        if epoch < turn
        else after + (before - after) * math.exp(-0.5 * (epoch - turn + 1))
        for epoch in range(task.epochs)
    ]


def diverging(task: Task, values: Values, data: None, seed: int) -> list[float]:
    """The higher the rate the faster, until it diverges at some epoch: to NaN, or by a jump of a million."""
    goal, speed = _landscape(values)
    rng = np.random.default_rng(seed)
    curve = [0.1 + goal + 0.9 * math.exp(-speed * (epoch + 1)) for epoch in range(task.epochs)]
    if rng.random() < (values["rate"] / 11) ** 2:
        start = int(rng.integers(1, task.epochs))
        bad = math.nan if rng.random() < 0.5 else 1e6
        curve[start:] = [bad] * (task.epochs - start)
    return curve


def _landscape(values: Values) -> tuple[float, float]:
    """Return how far a point ends from the best one, and how fast it trains."""
    rate, size, decay = values["rate"] / 11, values["size"] / 7, values["decay"] / 4
    shift = {"a": 0.08, "b": 0.0, "c": 0.2}[values["kind"]]
    best_rate = 0.65 - 0.3 * size
    goal = 1.2 * (rate - best_rate) ** 2 + 0.3 * (size - 0.7) ** 2 + 0.15 * (decay - 0.4) ** 2 + shift
    return goal, 0.05 + 0.3 * rate * (1.2 - 0.6 * size)


def _bundled(name: str) -> Data:
    from sklearn import datasets, preprocessing

    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    if y.dtype.kind == "f":
        y = (y - y.mean()) / y.std()
    return _split(preprocessing.StandardScaler().fit_transform(x), y)


def _friedman() -> Data:
    from sklearn import datasets

    return _split(*datasets.make_friedman1(700, noise=1.5, random_state=3))


def _quantiles() -> Data:
    from sklearn import datasets

    return _split(*datasets.make_gaussian_quantiles(n_samples=800, n_features=8, n_classes=3, random_state=4))


def _spirals() -> Data:
    rng = np.random.default_rng(5)
    turn = np.sqrt(rng.random(900)) * 3 * np.pi
    y = rng.integers(0, 2, 900)
    angle = turn + np.pi * y
    x = np.stack([np.cos(angle), np.sin(angle)], axis=1) * turn[:, None] / (3 * np.pi)
    return _split((3 * x + rng.normal(scale=0.08, size=x.shape)).astype(np.float32), y)


def _mislabeled() -> Data:
    from sklearn import datasets

    x, y = datasets.make_classification(800, 20, n_informative=8, n_classes=4, flip_y=0.15, random_state=6)
    return _split(x.astype(np.float32), y)


def _split(x: np.ndarray, y: np.ndarray) -> Data:
    from sklearn import model_selection

    x_train, x_val, y_train, y_val = model_selection.train_test_split(x, y, test_size=0.3, random_state=0)
    return x_train, y_train, x_val, y_val


_KINDS: dict[str, Callable[..., Any]] = {
    one.__name__: one for one in (perceptron, linear, boosting, network, factors, crossing, noisy, decayed, diverging)
}
_DATA: dict[str, Callable[[], Data]] = {
    **{name: (lambda name=name: _bundled(name)) for name in ("digits", "breast_cancer", "wine", "diabetes")},
    "friedman": _friedman,
    "quantiles": _quantiles,
    "spirals": _spirals,
    "mislabeled": _mislabeled,
}


if __name__ == "__main__":
    sys.exit(main())
