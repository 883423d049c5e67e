"""Record the learning curves that benchmarks/search_quality.py replays: scikit-learn MLPs on its bundled data sets.

    python benchmarks/search_quality_table.py TABLE.npz [--processes 2]

Every point of the grid `SPACE` is trained for `EPOCHS` epochs on each task, the validation loss taken after each. The
seeds are fixed, so the table is the same wherever the same scikit-learn and BLAS run.
"""

import argparse
import itertools
import multiprocessing
import warnings
from pathlib import Path
from typing import Any

import numpy as np

EPOCHS = 64
TASKS = ("digits", "breast_cancer", "wine", "diabetes")
# Each hyperparameter is searched as the index of its value, so that every library sees one and the same space.
SPACE: dict[str, list[Any]] = {
    "learning_rate": [10 ** (-4 + i * 0.5) for i in range(8)],
    "alpha": [1e-6, 1e-4, 1e-2, 1.0],
    "width": [4, 16, 64],
    "batch": [16, 64],
    "momentum": [0.0, 0.9],
}


def points() -> list[dict[str, int]]:
    """List every point, in the order of the table's first axis."""
    axes = [range(len(values)) for values in SPACE.values()]
    return [dict(zip(SPACE, indices, strict=True)) for indices in itertools.product(*axes)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    curves = {}
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        for task in TASKS:
            jobs = [(task, index, point) for index, point in enumerate(points())]
            curves[task] = np.array(pool.starmap(curve, jobs, chunksize=8), dtype=np.float32)
            print(f"{task}: best {curves[task].min():.4f}, median at the end {np.median(curves[task][:, -1]):.4f}")
            np.savez_compressed(options.table, **curves)


def curve(task: str, index: int, point: dict[str, int]) -> list[float]:
    """Validation loss after each epoch; a model that diverged stays at the loss of knowing nothing."""
    x, y, x_val, y_val = _data(task)
    model = _model(task, index, {name: SPACE[name][place] for name, place in point.items()})
    classes = np.unique(y) if task != "diabetes" else None
    ceiling = _loss_of_ignorance(task, y, y_val)
    losses: list[float] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(EPOCHS):
            try:
                model.partial_fit(x, y) if classes is None else model.partial_fit(x, y, classes=classes)
            except ValueError as e:
                if "non-finite" not in str(e):  # the one thing that a high learning rate may bring about
                    raise
                return losses + [ceiling] * (EPOCHS - len(losses))
            losses.append(min(_loss(task, model, x_val, y_val), ceiling))
    return losses


def _data(task: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    from sklearn import datasets, model_selection, preprocessing

    x, y = getattr(datasets, f"load_{task}")(return_X_y=True)
    x = preprocessing.StandardScaler().fit_transform(x)
    if task == "diabetes":
        y = (y - y.mean()) / y.std()
    x, x_val, y, y_val = model_selection.train_test_split(x, y, test_size=0.3, random_state=0)
    return x, y, x_val, y_val


def _model(task: str, index: int, values: dict[str, Any]) -> Any:
    from sklearn import neural_network

    kind = neural_network.MLPRegressor if task == "diabetes" else neural_network.MLPClassifier
    return kind(
        hidden_layer_sizes=(values["width"],),
        solver="sgd",
        learning_rate_init=values["learning_rate"],
        alpha=values["alpha"],
        batch_size=values["batch"],
        momentum=values["momentum"],
        random_state=index,
    )


def _loss(task: str, model: Any, x: np.ndarray, y: np.ndarray) -> float:
    from sklearn import metrics

    predicted = model.predict(x) if task == "diabetes" else model.predict_proba(x)
    if not np.isfinite(predicted).all():
        return float("inf")
    if task == "diabetes":
        return float(np.mean((y - predicted) ** 2))
    return float(metrics.log_loss(y, predicted, labels=model.classes_))


def _loss_of_ignorance(task: str, y: np.ndarray, y_val: np.ndarray) -> float:
    if task == "diabetes":
        return 2.0 * float(np.var(y_val))
    return 2.0 * float(np.log(len(np.unique(y))))


if __name__ == "__main__":
    main()
