"""Findings from the facts of all nodes. Pure: every node comes to the same sentences."""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from determined._frameworks import frameworks
from determined.exec.runner.preflight.facts import Facts
from determined.storage import registry

# Ranks with different versions of these fail late, and with errors that do not name the cause; so do those with
# different versions of what the training APIs need.
_ALIKE = ("determined", "tensorflow-cpu", "jax", "jaxlib", "horovod")
_NAMED = 4  # nodes of one sentence
_LISTED = 8  # packages of one sentence


@dataclass(frozen=True, slots=True)
class Finding:
    text: str
    fatal: bool


def skew(everyone: Sequence[Facts], *, fatal: bool = True) -> list[Finding]:
    """Return differences between the Pythons and packages of the nodes. A node without facts is only named.

    Not `fatal`: whether the task uses them is not known.
    """
    known = [facts for facts in everyone if facts.python is not None]
    silent = [facts for facts in everyone if facts.python is None]
    findings = [*_python_skew(known), *_framework_skew(known), *_other_skew(known)]
    if silent:
        findings.append(Finding(f"the Python of {_names(silent)} did not answer: its packages are not compared", False))
    return [Finding(one.text, one.fatal and fatal) for one in findings]


def is_present(wanted: str, present: Iterable[str]) -> bool:
    """Check whether an interface in `present` matches `wanted`, as NCCL reads it.

    Several may be named, by prefix, `=name` or `^name`.
    """
    names = [name.strip().lstrip("=") for name in wanted.split(",") if name.strip() and not name.startswith("^")]
    return not names or any(one.startswith(name) for one in present for name in names)


def absent_interface(wanted: str, here: Facts, present: Iterable[str]) -> Finding:
    listed = ", ".join(sorted(set(present)))
    return Finding(
        f"{here.name} has no network interface {wanted!r}, only {listed}; correct dtrain_network_interface", True
    )


def unreachable(here: Facts, peer: Facts, reason: str, hosts: int) -> Finding:
    place = f"{_endpoint(peer)} (interface {peer.interface or 'unknown'})"
    loopback = peer.address.startswith("127.") or peer.address in ("::1", "localhost")
    if loopback and hosts > 1:
        remedy = "that is a loopback address: give the node an address that the others can reach"
    else:
        remedy = "open TCP between the nodes (all ports), or give the node an address of a network that they share"
    return Finding(f"{here.name} cannot reach {peer.name} at {place}: {reason}; {remedy}", True)


def slow(here: Facts, peer: Facts, reason: str) -> Finding:
    return Finding(f"{here.name} is not sure to reach {peer.name} at {_endpoint(peer)}: {reason}", False)


def not_shared(here: Facts, chief: Facts, reason: str) -> Finding:
    return Finding(
        f"checkpoint directory {here.place} on {here.name} is not the one of {chief.name}: {reason}; mount the same "
        f"file system there on every node, or use an object store ({', '.join(registry.remote_kinds())})",
        True,
    )


def slow_directory(here: Facts, chief: Facts) -> Finding:
    return Finding(
        f"checkpoint directory {here.place} on {here.name} does not answer in time: whether it is the one of"
        f" {chief.name} is not known",
        False,
    )


def port_taken(here: Facts, variable: str, port: int, owner: str | None) -> Finding:
    """Return the finding of a port in use. It is not fatal: not every script uses every port."""
    return Finding(
        f"port {port} ({variable}) is taken on {here.name} at {here.address} by {owner or 'a process of another user'};"
        f" stop it, or set {variable} in environment.environment_variables",
        False,
    )


def unique(findings: Iterable[Finding]) -> list[Finding]:
    return list(dict.fromkeys(findings))


def _python_skew(known: Sequence[Facts]) -> list[Finding]:
    minors = _by_value(known, lambda facts: _minor(facts.python or ""))
    if len(minors) > 1:
        return [Finding(f"Python differs: {_values_by_node(minors)}; use the same minor version on every node", True)]
    exact = _by_value(known, lambda facts: facts.python)
    return [Finding(f"Python differs: {_values_by_node(exact)}", False)] if len(exact) > 1 else []


def _framework_skew(known: Sequence[Facts]) -> list[Finding]:
    findings = []
    for package in sorted(_packages_alike()):
        releases = _by_value(known, lambda facts: _release(facts.versions.get(package)))  # noqa: B023 (used at once)
        if len(releases.keys() - {None}) > 1:
            where = _values_by_node(releases)
            findings.append(Finding(f"{package} differs: {where}; install the same version on every node", True))
    return findings


def _other_skew(known: Sequence[Facts]) -> list[Finding]:
    """Return one finding about all version differences that may do no harm."""
    names = sorted({name for facts in known for name in facts.versions})
    parts = []
    for package in names:
        values = _by_value(known, lambda facts: facts.versions.get(package))  # noqa: B023 (used at once)
        fatal = package in _packages_alike() and len({_release(v) for v in values if v is not None}) > 1
        if len(values) > 1 and not fatal:
            parts.append(f"{package} {_values_by_node(values)}")
    if not parts:
        return []
    more = f"; and {len(parts) - _LISTED} more" if len(parts) > _LISTED else ""
    return [Finding(f"packages differ between nodes: {'; '.join(parts[:_LISTED])}{more}", False)]


@functools.cache
def _packages_alike() -> frozenset[str]:
    needed = (module.replace("_", "-") for framework in frameworks() for module in framework.extras)
    return frozenset({*_ALIKE, *needed})


def _by_value(known: Sequence[Facts], value: Callable[[Facts], str | None]) -> dict[str | None, list[Facts]]:
    groups: dict[str | None, list[Facts]] = {}
    for facts in known:
        groups.setdefault(value(facts), []).append(facts)
    return groups


def _values_by_node(groups: dict[str | None, list[Facts]]) -> str:
    return ", ".join(f"{value or 'missing'} on {_names(nodes)}" for value, nodes in groups.items())


def _names(nodes: Sequence[Facts]) -> str:
    named = " and ".join(facts.name for facts in nodes[:_NAMED])
    return f"{named} and {len(nodes) - _NAMED} more" if len(nodes) > _NAMED else named


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _release(version: str | None) -> str | None:
    """Return the version without its build: nodes with and without GPUs have different builds of one release."""
    return None if version is None else version.partition("+")[0]


def _endpoint(peer: Facts) -> str:
    return f"[{peer.address}]:{peer.port}" if ":" in peer.address else f"{peer.address}:{peer.port}"
