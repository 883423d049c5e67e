"""Journals that runners deliver (wire/report.py)."""

import asyncio
from typing import Any

import msgspec

from determined.errors import Conflict, FailedPrecondition, Gone, InvalidArgument
from determined.master.auth.identity import Caller
from determined.master.auth.permission import OWN_REPORTS, OWNER
from determined.master.context import MasterContext
from determined.master.routes.limits import REPORT_BODY
from determined.master.routes.request import AnyRequest
from determined.master.routes.serve import serve
from determined.master.services import report as reports
from determined.master.services import unmanaged_report
from determined.wire.report import POST_REPORTS, POST_UNMANAGED_REPORTS, ReportAnswer, ReportBatch

_BIG = 256 * 1024  # bytes; decoding more than this would be felt by other requests on the loop

_msgpack = msgspec.msgpack.Decoder(ReportBatch)
_json = msgspec.json.Decoder(ReportBatch)


@serve(POST_REPORTS, OWN_REPORTS, max_body=REPORT_BODY, errors=(Conflict, Gone))
async def receive_reports(
    request: AnyRequest, ctx: MasterContext, caller: Caller, allocation_id: str, resource_id: str
) -> ReportAnswer:
    return await reports.receive(ctx, caller, allocation_id, resource_id, await _batch(request, await request.body()))


@serve(POST_UNMANAGED_REPORTS, OWNER, max_body=REPORT_BODY, errors=(Conflict, Gone, FailedPrecondition))
async def receive_unmanaged_reports(
    request: AnyRequest, ctx: MasterContext, caller: Caller, trial_id: int, run_id: int
) -> ReportAnswer:
    return await unmanaged_report.receive(ctx, caller, trial_id, run_id, await _batch(request, await request.body()))


async def _batch(request: AnyRequest, raw: bytes) -> ReportBatch:
    # MessagePack never begins like JSON: a batch is an array in both
    is_json = (request.headers.get("content-type") or "").startswith("application/json") or raw[:1] in b"[{"
    decode = _decode_json if is_json else _decode_msgpack
    return await asyncio.to_thread(decode, raw) if len(raw) > _BIG else decode(raw)


def _decode_msgpack(raw: bytes) -> ReportBatch:
    return _decoded(_msgpack.decode, raw)


def _decode_json(raw: bytes) -> ReportBatch:
    return _decoded(_json.decode, raw)


def _decoded(decode: Any, raw: bytes) -> ReportBatch:
    try:
        batch: ReportBatch = decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as e:
        raise InvalidArgument(f"the report is not a ReportBatch (wire/report.py): {e}") from e
    return batch
