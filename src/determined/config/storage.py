"""checkpoint_storage: schema, typed variants, path rules, and the shortcut strings used off cluster."""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar
from urllib.parse import urlsplit

from determined.config.node import Integer, Node, Report, Text
from determined.config.objects import Field, Object, Tagged
from determined.config.paths import path_problem
from determined.errors import InvalidConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointStorage:
    """What every kind of store has. `raw` is the section as stored, secrets included."""

    type: str
    save_experiment_best: int = 0
    save_trial_best: int = 1
    save_trial_latest: int = 1
    raw: dict[str, Any] = field(repr=False)

    kind: ClassVar[str] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFS(CheckpointStorage):
    kind: ClassVar[str] = "shared_fs"
    host_path: str
    storage_path: str | None = None
    propagation: str = "rprivate"

    @property
    def base_path(self) -> str:
        """Where checkpoints lie on the host."""
        return posixpath.normpath(posixpath.join(self.host_path, self.storage_path or ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Directory(CheckpointStorage):
    kind: ClassVar[str] = "directory"
    container_path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class S3(CheckpointStorage):
    kind: ClassVar[str] = "s3"
    bucket: str
    access_key: str | None = field(default=None, repr=False)
    secret_key: str | None = field(default=None, repr=False)
    endpoint_url: str | None = None
    prefix: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GCS(CheckpointStorage):
    kind: ClassVar[str] = "gcs"
    bucket: str
    prefix: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Azure(CheckpointStorage):
    kind: ClassVar[str] = "azure"
    container: str
    connection_string: str | None = field(default=None, repr=False)
    account_url: str | None = None
    credential: str | None = field(default=None, repr=False)


def parse_checkpoint_storage(raw: dict[str, Any]) -> CheckpointStorage:
    """Check and type one `checkpoint_storage` section.

    Raises:
        InvalidConfig: with every violation, paths starting at `<config>.checkpoint_storage`.
    """
    stripped = canonical_storage(CHECKPOINT_STORAGE.strip(raw))
    report = Report(complete=True)
    CHECKPOINT_STORAGE.check(stripped, "<config>.checkpoint_storage", report)
    if report.violations:
        raise InvalidConfig("checkpoint storage is invalid or incomplete", report.violations)
    return storage_from_active(CHECKPOINT_STORAGE.fill(stripped))


def storage_from_active(raw: dict[str, Any]) -> CheckpointStorage:
    """Typed data from a section that was checked and filled before."""
    cls = next(c for c in (SharedFS, Directory, S3, GCS, Azure) if c.kind == raw["type"])
    known = {f.name for f in fields(cls)}
    values = {key: item for key, item in raw.items() if key in known and item is not None}
    return cls(**values, raw=raw)


def storage_from_string(text: str, *, off_cluster: bool = False) -> dict[str, Any]:
    """A section from a shortcut: a path, `file://path`, `s3://bucket[/prefix]` or `gs://bucket[/prefix]`.

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


def place_problem(section: dict[str, Any]) -> str | None:
    """Why nothing saved in this section's place would be found again; None when the path it names can be looked up.

    For sections that were stored before such paths were refused: they are shown, and nothing is started with them.
    """
    key = _PATH_KEYS.get(section.get("type") or "")
    path = section.get(key) if key else None
    if not isinstance(path, str):
        return None
    reason = path_problem(path)
    if reason is not None:
        return f"checkpoint_storage.{key}: {reason}"
    outside = next(_inside_host_path(section), None) if key == "host_path" else None
    return f"checkpoint_storage.{outside[0]}: {outside[1]}" if outside else None


def canonical_storage(raw: Any) -> Any:
    """Prefixes normalised (`/pre/.//fix` is `pre/fix`); anything malformed is left for the check."""
    if not isinstance(raw, dict) or not isinstance(raw.get("prefix"), str) or prefix_problem(raw["prefix"]):
        return raw
    return {**raw, "prefix": normal_prefix(raw["prefix"])}


def normal_prefix(prefix: str) -> str:
    cleaned = posixpath.normpath(prefix.lstrip("/")) if prefix.strip("/") else ""
    return "" if cleaned == "." else cleaned


def prefix_problem(prefix: str) -> str | None:
    escapes = prefix == ".." or prefix.startswith("../") or prefix.endswith("/..") or "/../" in prefix
    return "prefix must not be `..`, start with `../`, end with `/..` or contain `/../`" if escapes else None


def _bucket(text: str, kind: str, bucket: str, path: str) -> dict[str, Any]:
    if not bucket:
        raise InvalidConfig(f"malformed checkpoint storage {text!r}: the bucket is missing")
    prefix = path.strip("/")
    if prefix_problem(prefix):
        raise InvalidConfig(f"malformed checkpoint storage {text!r}: {prefix_problem(prefix)}")
    return {"type": kind, "bucket": bucket, **({"prefix": normal_prefix(prefix)} if prefix else {})}


def _inside_host_path(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    host, storage = value.get("host_path"), value.get("storage_path")
    if host is None or storage is None:
        return
    base = posixpath.normpath(host)
    target = posixpath.normpath(posixpath.join(base, storage))
    if target != base and not target.startswith(base.rstrip("/") + "/"):
        yield "storage_path", f"must be a subdirectory of host_path `{host}`, not `{storage}`"


def _one_azure_secret(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if value.get("connection_string") is not None and value.get("account_url") is not None:
        yield "", "give exactly one of connection_string or account_url"
    if value.get("credential") is not None and value.get("account_url") is None:
        yield "", "credential goes with account_url only"


def _some_azure_secret(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if value.get("connection_string") is None and value.get("account_url") is None:
        yield "", "give exactly one of connection_string or account_url"


class _Storage(Tagged):
    """Azure's three credential fields come as one block from the layer that first names an account."""

    def merge(self, high: Any, low: Any) -> Any:
        merged = super().merge(high, low)
        if not isinstance(high, dict) or not isinstance(low, dict):
            return merged
        if high.get("connection_string") is None and high.get("account_url") is None:
            return merged
        return {key: item for key, item in merged.items() if key not in _AZURE_SECRETS or high.get(key) is not None}


_AZURE_SECRETS = ("connection_string", "account_url", "credential")
_OPTIONAL = Field(Text(), default=None)
_PREFIX = Field(Text(problem=prefix_problem), default=None)
_SAVE = {
    "type": Field(Text(), required=True),
    "save_experiment_best": Field(Integer(low=0), default=0),
    "save_trial_best": Field(Integer(low=0), default=1),
    "save_trial_latest": Field(Integer(low=0), default=1),
}
_REQUIRED = Field(Text(), required=True)
_PATH = Field(Text(problem=path_problem), required=True)
_PATH_KEYS = {"shared_fs": "host_path", "directory": "container_path"}

_VARIANTS = {
    "shared_fs": Object(
        {
            "host_path": _PATH,
            "storage_path": _OPTIONAL,
            "propagation": Field(Text(), default="rprivate"),
            "container_path": Field(Node(), legacy=True),
            "checkpoint_path": Field(Node(), legacy=True),
            "tensorboard_path": Field(Node(), legacy=True),
        },
        rules=(_inside_host_path,),
    ),
    "directory": Object({"container_path": _PATH}),
    "s3": Object(
        {
            "bucket": _REQUIRED,
            "access_key": _OPTIONAL,
            "secret_key": _OPTIONAL,
            "endpoint_url": _OPTIONAL,
            "prefix": _PREFIX,
        }
    ),
    "gcs": Object({"bucket": _REQUIRED, "prefix": _PREFIX}),
    "azure": Object(
        {
            "container": _REQUIRED,
            "connection_string": _OPTIONAL,
            "account_url": _OPTIONAL,
            "credential": _OPTIONAL,
        },
        rules=(_one_azure_secret,),
        complete_rules=(_some_azure_secret,),
    ),
}

CHECKPOINT_STORAGE = _Storage(
    tag="type",
    common=_SAVE,
    variants=_VARIANTS,
    summary=f"not an object whose `type` is one of {', '.join(_VARIANTS)}",
)
