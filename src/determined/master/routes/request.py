"""The type of a request, whatever its user, its auth and its state."""

from typing import Any

from litestar import Request

AnyRequest = Request[Any, Any, Any]
