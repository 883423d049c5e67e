"""Registry of searchers (`methods`) and samplers (`samplers`): a module each, found by its name.

A module is imported when its name is asked for.
"""

import functools
import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Generic, TypeVar

from determined._json import JsonObject
from determined.errors import InvalidArgument
from determined.schema.quantities import Length
from determined.schema.quantity_nodes import LengthNode
from determined.search.sampler_config import SamplerConfig
from determined.search.searcher_config import SearcherConfig, invalid

S = TypeVar("S", SearcherConfig, SamplerConfig)


class _Packages(Generic[S]):
    """Packages whose modules declare one subclass of `base` each."""

    def __init__(self, base: type[S], *packages: str) -> None:
        self._base: type[S] = base
        self._packages = [f"determined.search.{package}" for package in packages]
        self._found: dict[str, type[S]] = {}

    @functools.cached_property
    def _modules(self) -> dict[str, str]:
        """Full names of the modules by the name of what they declare."""
        modules = [
            (module.name, f"{package}.{module.name}")
            for package in self._packages
            for module in pkgutil.iter_modules(import_module(package).__path__)
            if not module.ispkg
        ]
        return dict(sorted(modules))

    @functools.cached_property
    def by_name(self) -> dict[str, type[S]]:
        declared = [one for name in self._modules if (one := self.find(name)) is not None]
        return {one.name: one for one in sorted(declared, key=lambda one: one.order)}

    def find(self, name: object) -> type[S] | None:
        if not isinstance(name, str):
            return None
        if name not in self._found and name in self._modules:
            self._found[name] = self._load(self._modules[name])
        return self._found.get(name)

    def _load(self, path: str) -> type[S]:
        module = import_module(path)
        classes = [
            value for value in vars(module).values() if isinstance(value, type) and issubclass(value, self._base)
        ]
        return next(value for value in classes if value.__module__ == module.__name__)


_METHODS = _Packages(SearcherConfig, "methods", "methods.classic")
_SAMPLERS = _Packages(SamplerConfig, "samplers")


def searchers() -> dict[str, type[SearcherConfig]]:
    """Return all searchers by name, in the order of the documentation."""
    return _METHODS.by_name


def samplers() -> dict[str, type[SamplerConfig]]:
    """Return all samplers by name, in the order of the documentation."""
    return _SAMPLERS.by_name


def find_searcher(name: object) -> type[SearcherConfig] | None:
    """Find a searcher by its name; None for anything else."""
    return _METHODS.find(name)


def find_sampler(name: object) -> type[SamplerConfig] | None:
    """Find a sampler by its name; None for anything else."""
    return _SAMPLERS.find(name)


def searcher_of(config: JsonObject) -> type[SearcherConfig]:
    """Find the searcher of an experiment's config, for its traits; one without a searcher has the usual ones."""
    return find_searcher((config.get("searcher") or {}).get("name")) or SearcherConfig


def is_multi_trial(name: str | None) -> bool:
    """Tell whether a searcher of this name may run more than one trial, also for a name that is not known."""
    return (find_searcher(name) or SearcherConfig).is_multi_trial


def searcher_names(has_trait: Callable[[type[SearcherConfig]], bool]) -> list[str]:
    """List the names of all searchers with a trait."""
    return [name for name, searcher in searchers().items() if has_trait(searcher)]


def load_searcher(searcher: JsonObject, *, whole: bool = True) -> SearcherConfig:
    """Type a raw searcher section. `whole`: what it must have may not be missing.

    Raises:
        InvalidConfig: the searcher is unknown, or one of its parameters is missing or no length.
    """
    name = searcher.get("name")
    declared = find_searcher(name)
    if declared is None:
        raise invalid("name", f"searcher {name!r} is unknown; see the searcher section of the configuration reference")
    for key, known in declared.schema.fields.items():
        if isinstance(known.node, LengthNode) and searcher.get(key) is not None:
            _check_length(key, searcher[key])
    typed = declared.load(searcher)
    if whole:
        typed.require(*(key for key, known in declared.schema.fields.items() if known.required))
    return typed


def _check_length(key: str, value: object) -> None:
    try:
        Length.parse(value)
    except InvalidArgument as error:
        raise invalid(key, error.message) from None
