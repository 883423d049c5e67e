"""`type: gcs`: `<bucket>[/<prefix>]` on Google Cloud Storage."""

from determined.schema.node import Text
from determined.schema.section import field
from determined.storage.section import CheckpointStorage, Prefix


class GCS(CheckpointStorage):
    """A bucket of Google Cloud Storage."""

    kind = "gcs"
    driver = "gcsfs"
    code_keys = ("temp_dir",)
    order = 4
    scheme = "gs"

    bucket: str = field(Text(), "Name of the bucket.")
    prefix: str | None = field(Prefix(), "Put before every path in the bucket.", default=None)
