"""A master process: reads config, environment and flags, and serves until told to stop."""

import argparse
import errno
import gc
import logging
import os
import socket
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import uvicorn

from determined.config import parse_yaml
from determined.errors import DeterminedError, InvalidArgument, Unavailable
from determined.master.app import MasterServer, create_app
from determined.master.background import memory
from determined.master.config import MasterConfig, load_master_config
from determined.master.connections import raise_descriptor_limit
from determined.master.db import dialects, migrate
from determined.master.db.data_directory import DataDirectory
from determined.master.db.ownership import Ownership
from determined.master.lifecycle.identity import advertised_url, can_switch_users
from determined.master.services import bootstrap
from determined.master.services.master_log import JsonFormatter

logger = logging.getLogger("determined.master")

EXIT_CONFIG = 2
EXIT_STATE = 3  # the data directory or the database cannot be used
DEFAULT_CONFIG = Path("/etc/determined/master.yaml")
# Python's own is five times as long, and a thread that parses or compresses holds up each step of a request by that.
_SWITCH_SECONDS = 0.001
_GRACE_SECONDS = 10  # a back-stop: MasterServer has hung up on everybody long before
_DATABASE_SECONDS = 10
_LEVELS = {"trace": logging.DEBUG, "debug": logging.DEBUG, "warn": logging.WARNING, "warning": logging.WARNING,
           "error": logging.ERROR, "fatal": logging.CRITICAL}  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else [*argv]
    memory.freeze_objects()
    gc.enable()  # see __main__.py
    if words[:1] == ["import"]:
        return _import(words[1:])
    options = _parser().parse_args(words)
    try:
        config = _load_config(options)
        identity = Path(options.identity_file).read_bytes().strip() if options.identity_file else None
    except (DeterminedError, OSError) as e:
        sys.stderr.write(f"determined-master: {e}\n")
        return EXIT_CONFIG
    _log_as_json(config.log.level)
    return serve(config, identity_secret=identity, ready_fd=options.ready_fd)


def _import(words: list[str]) -> int:
    """Import from another system into the database of this config; no master may run on it meanwhile."""
    from determined.master.importing import command

    options, rest = _parser().parse_known_args(words)
    try:
        config = _load_config(options)
    except (DeterminedError, OSError) as e:
        sys.stderr.write(f"determined-master: {e}\n")
        return EXIT_CONFIG
    return command.main(config, rest)


def serve(config: MasterConfig, *, identity_secret: bytes | None = None, ready_fd: int | None = None) -> int:
    """Run until SIGTERM or SIGINT; the exit status."""
    try:
        is_new = _check_state(config)
    except DeterminedError as e:
        logger.error("cannot start: %s", e.message)
        return EXIT_STATE
    except OSError as e:
        logger.error("cannot start: the data directory %s cannot be used: %s", config.data_dir, e)
        return EXIT_STATE
    try:
        listener = _listen(config.host, config.port)
    except OSError as e:
        logger.error("cannot listen on %s port %s: %s; %s", config.host, config.port, e, _remedy(config.host, e))
        return EXIT_CONFIG
    try:
        more = [_listen(config.host, config.proxy.listen)] if config.proxy.listen is not None else []
    except OSError as e:
        logger.error("cannot listen on port %s, the `proxy.listen` of the config: %s", config.proxy.listen, e)
        return EXIT_CONFIG
    sys.setswitchinterval(_SWITCH_SECONDS)
    memory.set_thresholds()
    logger.info("up to %s files and connections may be open at once", raise_descriptor_limit())
    # With --port 0 only the listener knows the port; runners are told it in their launch files.
    config = config.replace(port=listener.getsockname()[1])
    _warn(config)
    first_password = _hashing(config.security.initial_user_password) if is_new else None
    app = create_app(
        config,
        identity_secret=identity_secret,
        visible_gpus=_visible_gpus(),
        first_password=first_password,
        late_routes=True,
    )
    server = _Announcing(_server_config(app, config), config, ready_fd)
    server.run(sockets=[listener, *more])
    return 0 if server.started else EXIT_STATE


class _Announcing(MasterServer):
    """Tells whoever started us, once requests are served, on which port."""

    def __init__(self, server: uvicorn.Config, config: MasterConfig, ready_fd: int | None) -> None:
        super().__init__(server)
        self._url = advertised_url(config)
        self._ready_file = Path(config.data_dir) / "master.port"
        self._ready_fd = ready_fd

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.started or not sockets:
            return
        memory.freeze_objects()
        port = sockets[0].getsockname()[1]
        temporary = self._ready_file.with_suffix(".new")
        temporary.write_text(f"{port}\n")
        temporary.replace(self._ready_file)
        if self._ready_fd is not None:
            os.write(self._ready_fd, f"{port}\n".encode())
            os.close(self._ready_fd)
        logger.info("serving on port %s", port)
        if self._ready_fd is None:  # whoever started it by hand; `det` finds those that it starts itself
            logger.info("to use this master: export DET_MASTER=%s", self._url)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        logger.info("stopping")
        self._ready_file.unlink(missing_ok=True)
        await super().shutdown(sockets)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m determined.master", description="The Determined master.")
    parser.add_argument("--config-file", "--master-config-path", dest="config_file", metavar="FILE")
    parser.add_argument("--host", help="address to listen on (default 127.0.0.1)")
    parser.add_argument("--port", type=int, help="0 picks a free one")
    parser.add_argument("--data-dir", metavar="DIR")
    parser.add_argument("--db-url", metavar="URL", help="postgresql://... (default: SQLite in the data directory)")
    parser.add_argument("--slots", type=int, help="number of CPU slots to offer instead of the GPUs")
    parser.add_argument("--cluster-name")
    parser.add_argument("--log-level", choices=["trace", "debug", "info", "warning", "error"])
    parser.add_argument("--ready-fd", type=int, metavar="N", help="the port is written here once it is served")
    parser.add_argument("--identity-file", metavar="FILE", help="secret that GET /info?challenge= proves")
    return parser


def _load_config(options: argparse.Namespace) -> MasterConfig:
    given = {
        "host": options.host,
        "port": options.port,
        "data_dir": options.data_dir,
        "db": {"url": options.db_url} if options.db_url else None,
        "slots": options.slots,
        "cluster_name": options.cluster_name,
        "log": {"level": options.log_level} if options.log_level else None,
    }
    flags: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return load_master_config(_config_file(options.config_file), os.environ, flags)


def _config_file(name: str | None) -> dict[str, Any] | None:
    if name is None:
        return parse_yaml(DEFAULT_CONFIG.read_text()) if DEFAULT_CONFIG.exists() else None
    path = Path(name)
    if not path.is_file():
        raise InvalidArgument(f"there is no config file {path}; check --config-file")
    return parse_yaml(path.read_text())


def _visible_gpus() -> str | None:
    return os.environ.get("ROCR_VISIBLE_DEVICES", os.environ.get("CUDA_VISIBLE_DEVICES"))


def _check_state(config: MasterConfig) -> bool:
    """Check what can be told in one line before the server is built: a second master, a damaged or foreign database.

    Returns whether the database is a new one.
    """
    directory = DataDirectory(Path(config.data_dir))
    engine = dialects.create_engine(config.db.address or directory.database_url)
    ownership = Ownership(engine)
    try:
        _await_database(ownership)
        migrate.upgrade(engine)
        with engine.connect() as conn:
            bootstrap.require_whole(conn)
            return bootstrap.is_empty(conn)
    finally:
        ownership.release()
        engine.dispose()
        directory.close()


def _hashing(password: str | None) -> Future[bootstrap.FirstPassword]:
    """Hash the first password on a thread, while the app is built."""
    threads = ThreadPoolExecutor(1, thread_name_prefix="first-password")
    hashing = threads.submit(bootstrap.first_password, password)
    threads.shutdown(wait=False)
    return hashing


def _await_database(ownership: Ownership) -> None:
    """Wait for the database: a server that is started together with us may need a moment more."""
    deadline = time.monotonic() + _DATABASE_SECONDS
    while True:
        try:
            return ownership.take()
        except Unavailable as e:
            if time.monotonic() >= deadline:
                raise
            logger.warning("%s; trying again for %s s in all", e.message, _DATABASE_SECONDS)
            time.sleep(1)


def _listen(host: str, port: int) -> socket.socket:
    """Bound here and not by uvicorn: a taken port is told in one line, and port 0 is known at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    listener.set_inheritable(False)
    return listener


def _remedy(host: str, error: OSError) -> str:
    """Say what to do about an address that cannot be listened on."""
    if error.errno != errno.EADDRNOTAVAIL:
        return "name another --port"
    if host in ("127.0.0.1", "::1", "localhost"):
        return f"this machine has no address {host}; bring its loopback up (ip link set lo up) or name another --host"
    return f"this machine has no address {host}; name another --host"


def _server_config(app: Any, config: MasterConfig) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        lifespan="on",
        loop="auto",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        timeout_keep_alive=75,
        ssl_certfile=config.security.tls.cert,
        ssl_keyfile=config.security.tls.key,
    )


def _warn(config: MasterConfig) -> None:
    if not can_switch_users():
        logger.warning("not running as root: every task runs as this user, whatever its owner is linked to")
    if config.security.require_user_isolation and not can_switch_users():
        logger.error("security.require_user_isolation is set: without root no task will be accepted")
    if config.host not in ("127.0.0.1", "::1", "localhost") and not config.security.tls.enabled:
        logger.warning("serving on %s without TLS: passwords and tokens are readable on the network", config.host)
    for path in sorted(config.ignored):
        logger.warning("config key %s is accepted and has no effect", path)


def _log_as_json(level: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    logging.getLogger("determined").setLevel(_LEVELS.get(level.lower(), logging.INFO))
    logging.getLogger("alembic").setLevel(logging.WARNING)
