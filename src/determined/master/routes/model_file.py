"""Files of model versions, for `curl` and for clients that resume."""

from typing import Any

from litestar import Response
from litestar.response import Stream

from determined.errors import CheckpointDamaged, FailedPrecondition, RangeNotSatisfiable
from determined.master.auth.permission import USER_OR_TASK
from determined.master.context import MasterContext
from determined.master.routes.archive import archive_response, wanted_archive
from determined.master.routes.errors import error_response
from determined.master.routes.request import AnyRequest
from determined.master.routes.serve import serve
from determined.master.services import checkpoint_download
from determined.master.services import model_file as files
from determined.master.services.model_file import FilePart
from determined.wire.model_version import (
    DOWNLOAD_MODEL_VERSION,
    DOWNLOAD_MODEL_VERSION_FILE,
    LIST_MODEL_VERSION_FILES,
    ModelFilesResponse,
)


@serve(LIST_MODEL_VERSION_FILES, USER_OR_TASK, errors=(CheckpointDamaged, FailedPrecondition))
async def list_model_version_files(ctx: MasterContext, model_name: str, version: str) -> ModelFilesResponse:
    return await files.list_files(ctx, model_name, version)


@serve(
    DOWNLOAD_MODEL_VERSION_FILE,
    USER_OR_TASK,
    errors=(CheckpointDamaged, FailedPrecondition, RangeNotSatisfiable),
)
async def download_model_version_file(
    request: AnyRequest, ctx: MasterContext, model_name: str, version: str, file_path: str
) -> Response[Any]:
    """Send a file, or the part that a Range header names."""
    wanted, unless_changed = request.headers.get("range"), request.headers.get("if-range")
    path = file_path.removeprefix("/")
    try:
        return _response(await files.read_file(ctx, model_name, version, path, wanted, unless_changed))
    except RangeNotSatisfiable as error:
        refused = error_response(error)
        refused.headers["Content-Range"] = f"bytes */{error.details['size']}"  # curl reads that it has everything
        return refused


@serve(DOWNLOAD_MODEL_VERSION, USER_OR_TASK, errors=(CheckpointDamaged, FailedPrecondition))
async def download_model_version(request: AnyRequest, ctx: MasterContext, model_name: str, version: str) -> Stream:
    """Download all files as zip, tar or (else) tgz, as Accept says."""
    stored = await files.find(ctx, model_name, version)
    archive = await checkpoint_download.download(ctx, stored.checkpoint.uuid, wanted_archive(request))
    return archive_response(archive, f"{stored.model_name}-{stored.version}")


def _response(part: FilePart) -> Response[Any]:
    headers = {
        "Accept-Ranges": "bytes",
        "Content-Disposition": "attachment",
        "Content-Length": str(part.end - part.start),
        "ETag": part.tag,
    }
    is_whole = part.end - part.start == part.size
    if not is_whole:
        headers["Content-Range"] = f"bytes {part.start}-{part.end - 1}/{part.size}"
    status = 200 if is_whole else 206
    return Stream(part.chunks, media_type="application/octet-stream", headers=headers, status_code=status)
