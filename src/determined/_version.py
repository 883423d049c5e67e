"""The version, once."""

__version__ = "0.39.0"
