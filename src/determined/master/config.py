"""The master's own config; its keys, checks and loading live in determined.config.master."""

from determined.config.master import EngineConfig, MasterConfig, Pool, load_master_config

__all__ = ["EngineConfig", "MasterConfig", "Pool", "load_master_config"]
