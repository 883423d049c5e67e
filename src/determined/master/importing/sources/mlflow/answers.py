"""Answers of an MLflow server, as far as they are read. Their types are checked when an answer is decoded."""

import msgspec

Word = str | int | float | bool | None
Number = int | float | str | None  # JSON of protobuf may have integers as texts


class Page(msgspec.Struct):
    next_page_token: str | None = None


class Pair(msgspec.Struct):
    """Parameter, tag, or metric without its value."""

    key: Word = None
    value: Word = ""


class Info(msgspec.Struct):
    run_id: Word = None
    run_uuid: Word = None
    run_name: Word = None
    status: Word = None
    start_time: Number = None
    end_time: Number = None
    artifact_uri: Word = None
    user_id: Word = None


class Data(msgspec.Struct):
    metrics: list[Pair] | None = None
    params: list[Pair] | None = None
    tags: list[Pair] | None = None


class Run(msgspec.Struct):
    info: Info | None = None
    data: Data | None = None


class Runs(Page):
    runs: list[Run] | None = None


class Experiment(msgspec.Struct):
    experiment_id: Word = None
    name: Word = None


class Experiments(Page):
    experiments: list[Experiment] | None = None


class Value(msgspec.Struct):
    timestamp: Number = None
    value: Number = None
    step: Number = None


class History(Page):
    metrics: list[Value] | None = None


class Model(msgspec.Struct):
    name: Word = None


class Models(Page):
    registered_models: list[Model] | None = None


class Refusal(msgspec.Struct):
    """Answer of MLflow to what it does not do."""

    error_code: Word
    message: Word = ""
