"""Checkpoints as archives: the format that Accept asks for, and the answer."""

import re

from litestar.response import Stream

from determined.master.routes.request import AnyRequest
from determined.master.services.checkpoint_download import Archive, Download

_SUFFIXES = {Archive.TGZ: "tgz", Archive.TAR: "tar", Archive.ZIP: "zip"}
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def wanted_archive(request: AnyRequest) -> Archive:
    accept = request.headers.get("accept", "")
    if "application/zip" in accept:
        return Archive.ZIP
    return Archive.TAR if "application/x-tar" in accept else Archive.TGZ


def archive_response(archive: Download, name: str) -> Stream:
    """Send an archive under a file name; what a header cannot carry becomes `_`."""
    disposition = f'attachment; filename="{_UNSAFE.sub("_", name)}.{_SUFFIXES[archive.kind]}"'
    return Stream(archive.chunks, media_type=archive.kind.value, headers={"Content-Disposition": disposition})
