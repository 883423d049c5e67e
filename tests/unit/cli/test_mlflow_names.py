"""Names, parameters and addresses as MLflow takes them."""

import math

import pytest

from determined.bundle.columns import Report
from determined.cli.exporting import mlflow_names


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("training", "loss"), "training/loss"),
        (("training", "top 5%"), "training/top 5_"),
        (("training", "../x"), "training/__/x"),
        (("training", "/a//b/"), "training/a/b"),
        (("training", "ü"), "training/ü"),
        (("training", "a\nb"), "training/a_b"),
        (("", ""), "_"),
        (("x" * 300,), "x" * 250),
        (("x" * 249 + "/y",), "x" * 249),
    ],
)
def test_a_name_is_made_one_that_mlflow_takes(parts: tuple[str, ...], name: str) -> None:
    assert mlflow_names.name_of(parts) == name


def test_parameters_are_flat_texts_of_a_bounded_length() -> None:
    found = mlflow_names.params(
        {"lr": 0.1, "opt": {"name": "sgd", "betas": [1, 2]}, "long": "x" * 7000, "e": {}, "f": None}
    )
    assert found == {"lr": "0.1", "opt.name": "sgd", "opt.betas": "[1,2]", "long": "x" * 6000, "e": "{}", "f": "null"}


def test_numbers_in_nested_values_are_metrics_and_others_are_counted() -> None:
    report = Report(1, 1, 7, "1970-01-01T00:00:01.5Z", {"a": {"b": 1, "c": "text"}, "n": math.nan, "t": True, "l": [1]})
    assert list(mlflow_names.metrics(report, "g")) == [
        {"key": "g/a/b", "value": 1.0, "timestamp": 1500, "step": 7},
        {"key": "g/n", "value": "NaN", "timestamp": 1500, "step": 7},
    ]
    assert mlflow_names.skipped(report) == 3


@pytest.mark.parametrize(
    ("section", "uri"),
    [
        ({"type": "s3", "bucket": "b", "prefix": "p/q"}, "s3://b/p/q/u"),
        ({"type": "gcs", "bucket": "b"}, "gs://b/u"),
        ({"type": "shared_fs", "host_path": "/a/", "storage_path": "b"}, "file:///a/b/u"),
        ({"type": "shared_fs", "host_path": "/a", "storage_path": "/a/b"}, "file:///a/b/u"),
        ({"type": "directory", "container_path": "/c"}, "file:///c/u"),
        ({"type": "azure", "container": "c"}, None),
        ({}, None),
    ],
)
def test_a_checkpoint_has_an_address_where_its_storage_has_one(section: dict[str, str], uri: str | None) -> None:
    assert mlflow_names.checkpoint_uri(section, "u") == uri
