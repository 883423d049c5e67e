"""checkpoint_storage: its kinds, path rules, and the shortcut strings used off cluster."""

import posixpath
from collections.abc import Iterator
from urllib.parse import urlsplit

from determined._json import JsonObject, JsonValue
from determined.errors import InvalidConfig
from determined.schema.node import Integer, Node, Report, Text
from determined.schema.objects import Field, Tagged
from determined.schema.paths import path_problem
from determined.schema.section import Section, field


class CheckpointStorage(Section):
    """The fields that every kind of store has."""

    type: str = field(Text(), "The kind of store.")
    save_experiment_best: int = field(
        Integer(low=0), "Checkpoints kept for the experiment's best validations.", default=0
    )
    save_trial_best: int = field(Integer(low=0), "Checkpoints kept for each trial's best validations.", default=1)
    save_trial_latest: int = field(Integer(low=0), "Newest checkpoints kept of each trial.", default=1)


def normal_prefix(prefix: str) -> str:
    cleaned = posixpath.normpath(prefix.lstrip("/")) if prefix.strip("/") else ""
    return "" if cleaned == "." else cleaned


def prefix_problem(prefix: str) -> str | None:
    escapes = prefix == ".." or prefix.startswith("../") or prefix.endswith("/..") or "/../" in prefix
    return "prefix must not be `..`, start with `../`, end with `/..` or contain `/../`" if escapes else None


def _inside_host_path(value: JsonObject) -> Iterator[tuple[str, str]]:
    host, storage = value.get("host_path"), value.get("storage_path")
    if host is None or storage is None:
        return
    base = posixpath.normpath(host)
    target = posixpath.normpath(posixpath.join(base, storage))
    if target != base and not target.startswith(base.rstrip("/") + "/"):
        yield "storage_path", f"must be a subdirectory of host_path `{host}`, not `{storage}`"


def _one_azure_secret(value: JsonObject) -> Iterator[tuple[str, str]]:
    if value.get("connection_string") is not None and value.get("account_url") is not None:
        yield "", "give exactly one of connection_string or account_url"
    if value.get("credential") is not None and value.get("account_url") is None:
        yield "", "credential goes with account_url only"


def _some_azure_secret(value: JsonObject) -> Iterator[tuple[str, str]]:
    if value.get("connection_string") is None and value.get("account_url") is None:
        yield "", "give exactly one of connection_string or account_url"


class SharedFS(
    CheckpointStorage,
    rules=(_inside_host_path,),
    unread=dict.fromkeys(("container_path", "checkpoint_path", "tensorboard_path"), Field(Node(), legacy=True)),
):
    """A directory that every node sees under the same path."""

    host_path: str = field(
        Text(problem=path_problem), "Absolute path of a directory every node sees; `~` is not expanded."
    )
    storage_path: str | None = field(
        Text(), "A directory below `host_path`: relative to it, or absolute and inside it.", default=None
    )
    propagation: str = field(Text(), "For containers.", default="rprivate")

    @property
    def base_path(self) -> str:
        """The directory of the checkpoints on the host."""
        return posixpath.normpath(posixpath.join(self.host_path, self.storage_path or ""))


class Directory(CheckpointStorage):
    """A directory as the task sees it."""

    container_path: str = field(Text(problem=path_problem), "Absolute path of a directory as the task sees it.")


class _Prefix(Text):
    """Canonical without superfluous slashes and dots: `/pre/.//fix` is `pre/fix`."""

    def canonical(self, value: JsonValue) -> JsonValue:
        return normal_prefix(value) if isinstance(value, str) and not prefix_problem(value) else value


_PREFIX = _Prefix(problem=prefix_problem)


class S3(CheckpointStorage):
    """A bucket of S3, or of a store that speaks its protocol."""

    bucket: str = field(Text(), "Name of the bucket.")
    access_key: str | None = field(Text(), "Default: what the environment offers.", default=None, secret=True)
    secret_key: str | None = field(Text(), "Default: what the environment offers.", default=None, secret=True)
    endpoint_url: str | None = field(Text(), "For S3-compatible stores.", default=None)
    prefix: str | None = field(_PREFIX, "Put before every path in the bucket.", default=None)


class GCS(CheckpointStorage):
    """A bucket of Google Cloud Storage."""

    bucket: str = field(Text(), "Name of the bucket.")
    prefix: str | None = field(_PREFIX, "Put before every path in the bucket.", default=None)


class Azure(CheckpointStorage, rules=(_one_azure_secret,), complete_rules=(_some_azure_secret,)):
    """A container of Azure Blob Storage."""

    container: str = field(Text(), "Name of the container.")
    connection_string: str | None = field(Text(), "This, or `account_url`.", default=None, secret=True)
    account_url: str | None = field(Text(), "This, or `connection_string`.", default=None)
    credential: str | None = field(Text(), "Goes with `account_url`.", default=None, secret=True)


class _Storage(Tagged[CheckpointStorage]):
    """Azure's three credential fields come as one block from the layer that first names an account."""

    def merge(self, high: JsonValue, low: JsonValue) -> JsonValue:
        merged = super().merge(high, low)
        if not isinstance(high, dict) or not isinstance(low, dict) or not isinstance(merged, dict):
            return merged
        if high.get("connection_string") is None and high.get("account_url") is None:
            return merged
        return {key: item for key, item in merged.items() if key not in _AZURE_SECRETS or high.get(key) is not None}


_AZURE_SECRETS = ("connection_string", "account_url", "credential")

CHECKPOINT_STORAGE = _Storage(
    CheckpointStorage,
    tag="type",
    variants={"shared_fs": SharedFS, "directory": Directory, "s3": S3, "gcs": GCS, "azure": Azure},
)


def parse_checkpoint_storage(raw: JsonObject) -> CheckpointStorage:
    """Check and type one `checkpoint_storage` section.

    Raises:
        InvalidConfig: with every violation, paths starting at `<config>.checkpoint_storage`.
    """
    canonical = CHECKPOINT_STORAGE.canonical(raw)
    report = Report(complete=True)
    CHECKPOINT_STORAGE.check(canonical, "<config>.checkpoint_storage", report)
    if report.violations:
        raise InvalidConfig("checkpoint storage is invalid or incomplete", report.violations)
    return CHECKPOINT_STORAGE.load(CHECKPOINT_STORAGE.fill(canonical))


def storage_from_string(text: str, *, off_cluster: bool = False) -> JsonObject:
    """Make a section of a shortcut: a path, `file://path`, `s3://bucket[/prefix]` or `gs://bucket[/prefix]`.

    A path means `shared_fs`, or `directory` off cluster, where no host path is mounted anywhere else.
    """
    try:
        url = urlsplit(text)
    except ValueError as error:
        raise InvalidConfig(f"malformed checkpoint storage {text!r}: {error}") from None
    if url.query or url.fragment:
        raise InvalidConfig(f"malformed checkpoint storage {text!r}: no query (?) or fragment (#) may follow")
    if url.scheme in ("s3", "gs"):
        return _bucket(text, "s3" if url.scheme == "s3" else "gcs", url.netloc, url.path)
    if url.scheme not in ("", "file") or (url.scheme == "file" and url.netloc):
        raise InvalidConfig(f"malformed checkpoint storage {text!r}: use a path, file://, s3:// or gs://")
    path = url.path if url.scheme else text
    if not path:
        raise InvalidConfig(f"malformed checkpoint storage {text!r}: the path is empty")
    return {"type": "directory", "container_path": path} if off_cluster else {"type": "shared_fs", "host_path": path}


def place_problem(section: JsonObject) -> str | None:
    """Say why nothing saved in this section's place would be found again; None when the path it names can be looked up.

    For sections that were stored before such paths were refused: they are shown, and nothing is started with them.
    """
    key = {"shared_fs": "host_path", "directory": "container_path"}.get(section.get("type") or "")
    path = section.get(key) if key else None
    if not isinstance(path, str):
        return None
    reason = path_problem(path)
    if reason is not None:
        return f"checkpoint_storage.{key}: {reason}"
    outside = next(_inside_host_path(section), None) if key == "host_path" else None
    return f"checkpoint_storage.{outside[0]}: {outside[1]}" if outside else None


def _bucket(text: str, kind: str, bucket: str, path: str) -> JsonObject:
    if not bucket:
        raise InvalidConfig(f"malformed checkpoint storage {text!r}: the bucket is missing")
    prefix = path.strip("/")
    if prefix_problem(prefix):
        raise InvalidConfig(f"malformed checkpoint storage {text!r}: {prefix_problem(prefix)}")
    return {"type": kind, "bucket": bucket, **({"prefix": normal_prefix(prefix)} if prefix else {})}
