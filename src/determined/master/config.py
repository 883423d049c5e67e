"""The master's own config; its keys, checks and loading live in determined.config.master."""

from determined.config.master import MasterConfig, load_master_config

__all__ = ["MasterConfig", "load_master_config"]
