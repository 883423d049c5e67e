"""Upstream's `determined.util`: names that users' code imports from here."""

from determined.wire.userdata import json_encode

__all__ = ["json_encode"]
