"""Addresses of masters by upstream's names."""

from determined.api import environment, own_master
from determined.api.address import canonical as canonicalize_master_url

__all__ = ["canonicalize_master_url", "get_default_master_url"]


def get_default_master_url() -> str:
    """Return the address that the environment names, else that of the master you run, else localhost:8080."""
    named = environment.master()
    own = None if named else own_master.find(environment.state_dir())
    return named or (own.url if own is not None else "localhost:8080")
