"""Limits of request bodies. The app's own limit is ORDINARY; a route that needs another one names it.

Litestar counts while the body arrives, chunked or not, and stops reading at the limit.
"""

KIB, MIB = 1024, 1024 * 1024

PUBLIC_BODY = 16 * KIB  # routes without a login: a name, a password, a ticket
BRIDGE_BODY = 4 * MIB  # the state of a Ray cluster of some thousand nodes; see routes/bridge.py
ORDINARY_BODY = MIB
DRY_RUN_BODY = 512 * KIB  # sent while people type, and each one is simulated
CONFIG_BODY = 4 * MIB  # a config of MAX_CONFIG_CHARS, with every character escaped by JSON
REPORT_BODY = 16 * MIB  # metrics, logs and profiles: clients send what has gathered
LOCK_BODY = 8 * MIB  # resolved packages with all their hashes
SUBMIT_BODY = 150 * MIB  # 95 MiB of files are 130 MB of JSON
