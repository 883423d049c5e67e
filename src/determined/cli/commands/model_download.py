"""det model download: the files of a version, verified."""

import argparse
from pathlib import Path

from determined.api.session import Session
from determined.cli import render
from determined.cli.connection import connect
from determined.cli.grammar import FILES, UsageError, arg, command
from determined.errors import DeterminedError, NotFound
from determined.wire.model_version import LATEST, ModelFilesResponse


def download(args: argparse.Namespace) -> None:
    from determined.sdk import version_download

    session = connect(args)
    listing = _list_files(session, args.model_version)
    target = Path(args.directory)
    with render.Progress(f"{listing.model_name} version {listing.version}", _size(listing)) as bar:
        version_download.download(session, listing, target, force=args.force, advance=bar.advance)
    _report(listing, target, args)


def _report(listing: ModelFilesResponse, target: Path, args: argparse.Namespace) -> None:
    if args.json:
        render.structured({**_summary(listing), "path": str(target)})
    elif args.quiet:
        render.line(str(target))
    else:
        files = [f for f in listing.files if not f.path.endswith("/")]
        render.line(
            f"Downloaded version {listing.version} of model {listing.model_name} to {target}: {len(files)} file(s), "
            f"{render.size_of(_size(listing))}, {_checked(listing)}"
        )


def _summary(listing: ModelFilesResponse) -> dict[str, object]:
    return {
        "modelName": listing.model_name,
        "version": listing.version,
        "checkpointUuid": listing.checkpoint_uuid,
        "files": listing.files,
    }


def _checked(listing: ModelFilesResponse) -> str:
    if all(file.hash for file in listing.files if not file.path.endswith("/")):
        return "sizes and hashes verified"
    return "sizes verified (this checkpoint was stored without hashes)"


def _size(listing: ModelFilesResponse) -> int:
    return sum(file.size for file in listing.files)


def _list_files(session: Session, text: str) -> ModelFilesResponse:
    """List the files of `MODEL:VERSION` or of the latest version of `MODEL`. Names of models may have colons too.

    A model whose whole name is `MODEL:VERSION` counts only where there is no `MODEL`: anybody may create it.
    """
    from determined.sdk import version_download

    model, colon, version = text.rpartition(":")
    if not colon:
        return version_download.list_files(session, text, LATEST)
    missing: DeterminedError = UsageError(
        f"{text!r} is not MODEL:VERSION; write for example mnist:3 or mnist:production"
    )
    if model and version:
        try:
            return version_download.list_files(session, model, version)
        except NotFound as err:
            missing = err
    if model and _exists(session, model):
        raise missing
    try:
        return version_download.list_files(session, text, LATEST)
    except NotFound:
        raise missing from None


def _exists(session: Session, model: str) -> bool:
    from determined.api import model as models

    try:
        models.get(session, model)
    except NotFound:
        return False
    return True


COMMAND = command(
    "download",
    "download the files of a version",
    download,
    arg(
        "model_version",
        completes="model",
        metavar="MODEL:VERSION",
        help="version by number or alias; the latest without :VERSION",
    ),
    arg("directory", completes=FILES, help="where to put the files; a partial download there goes on"),
    arg("--force", action="store_true", help="replace files there that differ"),
    arg("-q", "--quiet", action="store_true", help="print the path only"),
    render.JSON,
)
