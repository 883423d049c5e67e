"""Marks of fields in which this wire differs from upstream's. `determined.common.api.bindings` is derived by them.

messages: Ours[list[str]] = []              # upstream does not have it
id: UpstreamRequired[int | None] = None     # upstream's clients always send it; others may leave it out
end_time: UpstreamOptional[str]             # upstream's servers and clients may leave it out
"""

from typing import Annotated, TypeVar

from msgspec import Meta

T = TypeVar("T")

MARK = "upstream"  # key of `Meta.extra`

Ours = Annotated[T, Meta(extra={MARK: "absent"})]
UpstreamRequired = Annotated[T, Meta(extra={MARK: "required"})]
UpstreamOptional = Annotated[T, Meta(extra={MARK: "optional"})]
