"""Names of the files that several ranks write."""

from pathlib import Path

_PROFILES = (".pt.trace.json", ".pt.trace.json.gz")
_TENSORFLOW = (".xplane.pb", ".kernel_stats.pb", ".memory_profile.json.gz", ".trace.json.gz", ".overview_page.pb")


def get_rank_aware_path(path: Path, rank: int) -> Path:
    """Return where a rank's profile goes, so that those of one host do not overwrite each other: `#<rank>` after the
    host.

    Example:
        >>> get_rank_aware_path(Path("h.xplane.pb"), 3).name
        'h#3.xplane.pb'
        >>> get_rank_aware_path(Path("w.123.pt.trace.json"), 3).name
        'w#3.123.pt.trace.json'
    """
    for ending in _PROFILES:
        if path.name.endswith(ending):
            host, _, moment = path.name[: -len(ending)].rpartition(".")
            return path.with_name(f"{host}#{rank}.{moment}{ending}" if host else f"{moment}#{rank}{ending}")
    for ending in _TENSORFLOW:
        if path.name.endswith(ending):
            return path.with_name(f"{path.name[: -len(ending)]}#{rank}{ending}")
    return path
