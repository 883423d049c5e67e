"""det model: models of the registry and their versions."""

import argparse
from typing import Any

from determined.api import model, model_version, workspace
from determined.api.session import Session
from determined.cli import render
from determined.cli.commands import model_alias, model_download
from determined.cli.connection import connect
from determined.cli.grammar import Command, arg, command, group
from determined.wire.base import OrderBy
from determined.wire.model import GetModelsRequestSortBy, ListModels, Model, PatchModel, PostModelRequest
from determined.wire.model_version import (
    LATEST,
    GetModelVersionResponse,
    ListModelVersions,
    ModelVersion,
    PostModelVersionRequest,
)

_MODEL = arg("model_name", completes="model", help="name or ID of the model")
_HEADERS = ["ID", "Name", "Description", "Workspace ID", "Creation Time", "Last Updated Time", "Metadata"]
_VERSION_HEADERS = [
    "Version #", "Trial ID", "Batch #", "Checkpoint UUID", "Validation Metrics", "Metadata", "Aliases",
]  # fmt: skip


def list_models(args: argparse.Namespace) -> None:
    params = ListModels(
        sort_by=GetModelsRequestSortBy(f"SORT_BY_{args.sort_by.upper()}"),
        order_by=OrderBy(f"ORDER_BY_{args.order_by.upper()}"),
        workspace_names=args.workspace_names,
    )
    models = list(model.iterate(connect(args), params))
    headers = [*(h for h in _HEADERS if h != "Description"), "# Versions", "Archived"]
    rows = [[m.id, m.name, m.workspace_id, *_times(m), m.metadata, m.num_versions, m.archived] for m in models]
    render.rows(headers, rows, args=args, data=models)


def create(args: argparse.Namespace) -> None:
    request = PostModelRequest(name=args.name, description=args.description, workspace_name=args.workspace_name)
    made = model.create(connect(args), request)
    if args.json:
        render.structured(made)
        return
    _print(made)


def describe(args: argparse.Namespace) -> None:
    session = connect(args)
    row = model.get(session, args.model_name)
    version = _version_of(session, row, args.version)
    if args.json:
        render.structured(row)
        return
    _print(row, *([version] if version else []))


def list_versions(args: argparse.Namespace) -> None:
    session = connect(args)
    row = model.get(session, args.model_name)
    versions = list(model_version.iterate(session, row.id, ListModelVersions(order_by=OrderBy.DESC)))
    if args.json:
        render.structured({"model": row, "modelVersions": versions})
        return
    _print(row)
    render.line()
    _print_versions(versions)


def register_version(args: argparse.Namespace) -> None:
    session = connect(args)
    request = PostModelVersionRequest(
        checkpoint_uuid=args.uuid, name=args.version_name, comment=args.comment, notes=args.notes
    )
    made = model_version.register(session, args.model_name, request)
    if args.json:
        render.structured(GetModelVersionResponse(model_version=made))
        return
    _print(made.model, made)


def move(args: argparse.Namespace) -> None:
    session = connect(args)
    destination = workspace.by_name(session, args.workspace_name)
    moved = model.patch(session, args.model_name, PatchModel(workspace_id=destination.id))
    render.line(f"Moved model {moved.name} to workspace {destination.name}")


def delete(args: argparse.Namespace) -> None:
    session = connect(args)
    row = model.get(session, args.model_name)
    model.delete(session, row.id)
    render.line(f"Deleted model {row.name} with {row.num_versions} version(s); their checkpoints stay")


def delete_version(args: argparse.Namespace) -> None:
    session = connect(args)
    row = model_version.get(session, args.model_name, args.version)
    model_version.delete(session, row.model.id, row.version)
    render.line(f"Deleted version {row.version} of model {row.model.name}; its checkpoint stays")


def verb(name: str) -> Command:
    def run(args: argparse.Namespace) -> None:
        model.act(connect(args), args.model_name, name)
        render.line(f"{name.capitalize()}d model {args.model_name}")

    return command(name, f"{name} model", run, _MODEL)


def _version_of(session: Session, row: Model, version: str) -> ModelVersion | None:
    """Return the version of that number or alias, or the latest; None where the model has none at all."""
    if version not in {"-1", LATEST}:
        return model_version.get(session, row.id, version)
    return model_version.get(session, row.id, LATEST) if row.num_versions else None


def _print(row: Model, *versions: ModelVersion) -> None:
    render.table(_HEADERS, [[row.id, row.name, row.description, row.workspace_id, *_times(row), row.metadata]])
    if versions:
        render.line()
        _print_versions(versions)


def _print_versions(versions: "tuple[ModelVersion, ...] | list[ModelVersion]") -> None:
    render.table(_VERSION_HEADERS, [_version_row(v) for v in versions])


def _version_row(v: ModelVersion) -> list[Any]:
    metadata, training = v.checkpoint.metadata or {}, v.checkpoint.training
    metrics = training.validation_metrics.avg_metrics if training.validation_metrics else {}
    aliases = ", ".join(v.aliases or [])
    return [
        v.version,
        training.trial_id,
        metadata.get("steps_completed"),
        v.checkpoint.uuid,
        metrics,
        metadata,
        aliases,
    ]


def _times(row: Model) -> list[str]:
    return [render.time_of(row.creation_time), render.time_of(row.last_updated_time)]


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


TREE = group(
    "model m",
    "manage models of the registry",
    command(
        "list ls",
        "list models",
        list_models,
        arg("-w", "--workspace-names", type=_names, metavar="A,B", help="only models of these workspaces"),
        arg(
            "--sort-by",
            choices=["name", "description", "creation_time", "last_updated_time"],
            default="last_updated_time",
            help="what to sort by",
        ),
        arg("--order-by", choices=["asc", "desc"], default="asc", help="up or down"),
        render.FORMATS,
        default=True,
    ),
    command(
        "create",
        "create model",
        create,
        arg("name", help="unique in the cluster; not only digits"),
        arg("-w", "--workspace-name", help="workspace to create it in"),
        arg("--description"),
        render.JSON,
    ),
    command(
        "describe",
        "describe model",
        describe,
        _MODEL,
        arg("--version", default="-1", help="number or alias of the version to show (default: the latest)"),
        render.JSON,
    ),
    command("list-versions", "list versions of model", list_versions, _MODEL, render.JSON),
    command(
        "register-version",
        "register checkpoint as a version of model",
        register_version,
        _MODEL,
        arg("uuid", help="checkpoint"),
        arg("--version-name", help="name of the version, for people"),
        arg("--comment"),
        arg("--notes"),
        render.JSON,
    ),
    model_download.COMMAND,
    model_alias.GROUP,
    command(
        "move",
        "move model to another workspace",
        move,
        _MODEL,
        arg("-w", "--workspace-name", required=True, help="workspace to move it to"),
    ),
    verb("archive"),
    verb("unarchive"),
    command("delete", "delete model", delete, _MODEL),
    command(
        "delete-version",
        "delete version of model",
        delete_version,
        _MODEL,
        arg("version", help="number or alias"),
    ),
)
