"""`type: s3`: `<bucket>[/<prefix>]` on Amazon S3 or anything that speaks it (`endpoint_url`)."""

from determined.schema.node import Text
from determined.schema.section import field
from determined.storage.section import CheckpointStorage, Prefix


class S3(CheckpointStorage):
    """A bucket of S3, or of a store that speaks its protocol."""

    kind = "s3"
    driver = "s3fs"
    code_keys = ("temp_dir",)
    order = 3
    scheme = "s3"

    bucket: str = field(Text(), "Name of the bucket.")
    access_key: str | None = field(Text(), "Default: what the environment offers.", default=None, secret=True)
    secret_key: str | None = field(Text(), "Default: what the environment offers.", default=None, secret=True)
    endpoint_url: str | None = field(Text(), "For S3-compatible stores.", default=None)
    prefix: str | None = field(Prefix(), "Put before every path in the bucket.", default=None)
