"""The `checkpoint_storage` section, as far as all stores share it, and the traits of a store.

A store derives its own section from `CheckpointStorage` in the `config.py` of its folder (registry.py finds it there).
"""

from typing import ClassVar

from determined._json import JsonObject, JsonValue
from determined.schema.node import Choice, Integer, Text
from determined.schema.section import Section, field
from determined.storage.fields import Deduplicate, normal_prefix, normalize_prefix, prefix_problem


class CheckpointStorage(Section):
    """The fields that every kind of store has. A subclass adds its own, and says in class variables:

    kind: the `type` that chooses it, and the name of its folder.
    order: its place in lists; the usual stores come first.
    scheme: how URLs of its buckets begin (`scheme://bucket/prefix`); "": it has none.
    place_key: field with the name of its bucket or container.
    path_key: field with the path of its directory, where it lies on a file system; "": it does not.
    is_mounted: engines mount its directory into containers, so only a config can choose it.
    is_in_container: `path_key` is a path as the task sees it.
    account_keys: fields of which one names an account.
    credential_keys: fields that come with the account, from the same layer of a config.
    code_keys: keys that code may give and a config may not.
    driver: distribution that reaches it, which the extra called as `kind` brings; "": none is needed.
    """

    kind: ClassVar[str] = ""
    order: ClassVar[int] = 100
    scheme: ClassVar[str] = ""
    place_key: ClassVar[str] = "bucket"
    path_key: ClassVar[str] = ""
    is_mounted: ClassVar[bool] = False
    is_in_container: ClassVar[bool] = False
    account_keys: ClassVar[tuple[str, ...]] = ()
    credential_keys: ClassVar[tuple[str, ...]] = ()
    code_keys: ClassVar[tuple[str, ...]] = ()
    driver: ClassVar[str] = ""

    type: str = field(Text(), "The kind of store.")
    save_experiment_best: int = field(
        Integer(low=0), "Checkpoints kept for the experiment's best validations.", default=0
    )
    save_trial_best: int = field(Integer(low=0), "Checkpoints kept for each trial's best validations.", default=1)
    save_trial_latest: int = field(Integer(low=0), "Newest checkpoints kept of each trial.", default=1)

    @property
    def container_mount(self) -> tuple[str, str] | None:
        """Directory of the host that containers need at the same path, and its mount propagation."""
        return None

    @classmethod
    def at_url(cls, place: str, path: str) -> JsonObject:
        """Return the section of `scheme://place/path`. A store whose fields have other names says so."""
        return {"type": cls.kind, cls.place_key: place, "prefix": normalize_prefix(path)}

    @classmethod
    def url(cls, section: JsonObject) -> str | None:
        """Return `scheme://place/path` of a section, or `file://` and its directory; None for a store without URLs."""
        if cls.scheme:
            place = [str(section.get(cls.place_key) or ""), str(section.get("prefix") or "").strip("/")]
            return f"{cls.scheme}://" + "/".join(part for part in place if part)
        path = section.get(cls.path_key)
        return f"file://{str(path).rstrip('/')}" if path else None

    @classmethod
    def described(cls, section: JsonObject) -> str:
        """Return what people know a section by: its directory, or its kind and bucket."""
        path = section.get(cls.path_key)
        return str(path) if path else f"the {section.get('type')} storage {section.get(cls.place_key)}"

    @classmethod
    def require_known(cls, config: JsonObject) -> None:
        """Refuse keys that a store does not have, and a section without the ones it needs.

        Args:
            config: A section without `type` and `save_*`.

        Raises:
            ValueError: the first such key.
        """
        own = {key: field for key, field in cls.schema.fields.items() if key not in CheckpointStorage.schema.fields}
        unknown = sorted(set(config) - set(own) - set(cls.code_keys))
        if unknown:
            keys = sorted({*own, *cls.code_keys})
            raise ValueError(f"checkpoint_storage of type {cls.kind} has no field {unknown[0]!r}; it has {keys}")
        missing = sorted(key for key, field in own.items() if field.required and not config.get(key))
        if missing:
            raise ValueError(f"checkpoint_storage of type {cls.kind} needs {missing[0]!r}; add it")


class LocalStorage(CheckpointStorage):
    """The fields that every store on a file system has."""

    deduplicate: Deduplicate = field(
        Choice(Deduplicate),
        "What checkpoints share: large files that have the same content (`files`), blocks of large files, which are"
        " then read by Determined's own tools alone (`blocks`), or nothing (`none`).",
        default=Deduplicate.FILES,
        fill=False,
        since="0.39",
    )


class Prefix(Text):
    """A place in a bucket, canonical without superfluous slashes and dots: `/pre/.//fix` is `pre/fix`."""

    def __init__(self) -> None:
        super().__init__(problem=prefix_problem)

    def canonical(self, value: JsonValue) -> JsonValue:
        return normal_prefix(value) if isinstance(value, str) and not prefix_problem(value) else value
