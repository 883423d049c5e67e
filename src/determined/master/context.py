"""What every service of one master shares. Built once in app.py and passed down; holds no state of its own."""

from dataclasses import dataclass, field

from determined.master.bus import Bus
from determined.master.clock import Clock
from determined.master.config import MasterConfig
from determined.master.db.database import Database


@dataclass(frozen=True, slots=True)
class ClusterIdentity:
    """Who this master is. `secret` signs allocation tokens and never leaves the master."""

    cluster_id: str
    master_id: str
    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class MasterContext:
    db: Database
    bus: Bus
    clock: Clock
    config: MasterConfig
    cluster: ClusterIdentity
