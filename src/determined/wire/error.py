"""Errors on the wire: `{"error": {code, reason, error, details}, "message"}`."""

from typing import Any

from determined.errors import BY_CODE, DeterminedError
from determined.wire.codec import plain


def error_body(error: DeterminedError) -> dict[str, Any]:
    known = error.code in BY_CODE or type(error) is not DeterminedError
    inner = {"code": error.grpc, "reason": error.code if known else "internal", "error": error.message}
    if error.details:
        inner["details"] = plain(error.details)
    return {"error": inner, "message": error.message}
