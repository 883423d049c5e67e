"""The config of a master: its keys (`file`, `managers`), rules across them (`rules`), and what follows (`master`)."""

from determined.master.config.master import EngineConfig, MasterConfig, Pool, load_master_config

__all__ = ["EngineConfig", "MasterConfig", "Pool", "load_master_config"]
