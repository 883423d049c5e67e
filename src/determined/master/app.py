"""Assembly of a master: context, routes, engines, loops, and the order in which they start and stop."""

import asyncio
import logging
import socket
import uuid
import warnings
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import uvicorn
from litestar import Litestar, Request
from litestar.config.cors import CORSConfig
from litestar.datastructures import State
from litestar.di import Provide
from litestar.types import (
    LifeSpanReceive,
    LifeSpanScope,
    LifeSpanSend,
    LifeSpanSendMessage,
    Message,
    Receive,
    Scope,
    Send,
)
from sqlalchemy import Connection

from determined.engines.base import Engine
from determined.errors import DeterminedError, FailedPrecondition
from determined.master import supervise
from determined.master.auth.guard import caller_of, guard, require_rows
from determined.master.auth.identity import Caller
from determined.master.auth.login_link import LoginLinks
from determined.master.auth.login_throttle import LoginThrottle
from determined.master.auth.request_limits import RequestLimits
from determined.master.auth.start_pace import StartPace
from determined.master.background import idle, log_retention, memory, unmanaged, webhooks
from determined.master.background.checkpoint_gc import GarbageCollector
from determined.master.background.deletion import ExperimentDeleter
from determined.master.background.idle import IdleWatch
from determined.master.background.proposer import Proposer
from determined.master.background.unmanaged import SilenceSweep
from determined.master.background.webhooks import WebhookSender
from determined.master.bus import Bus
from determined.master.clock import Clock, SystemClock
from determined.master.config import MasterConfig
from determined.master.connections import BoundedProtocol, Connections
from determined.master.context import ClusterIdentity, MasterContext
from determined.master.db import migrate
from determined.master.db.data_directory import DataDirectory
from determined.master.db.database import Database
from determined.master.db.ownership import Ownership
from determined.master.engine_wiring import build_engines, with_found_pools
from determined.master.lifecycle.reconciler import Reconciler
from determined.master.proxy.proxy import Proxy
from determined.master.proxy.tunnels import PING_SECONDS, Tunnels
from determined.master.routes import late, nouns
from determined.master.routes.docs import openapi_config
from determined.master.routes.errors import exception_handlers
from determined.master.routes.limits import ORDINARY_BODY
from determined.master.routes.observe import observed
from determined.master.routes.proxy import by_origin
from determined.master.routes.submit_turns import SubmitTurns
from determined.master.services import bootstrap, session
from determined.master.services.bootstrap import FirstPassword
from determined.master.services.experiment_files import prepare_storage
from determined.master.services.master_log import LogRing
from determined.master.services.request_metrics import RequestMetrics
from determined.master.services.stream import StreamHub
from determined.master.services.stream_sync import sweep_tombstones

logger = logging.getLogger(__name__)

EngineFactory = Callable[[MasterContext], Sequence[Engine]]

_SWEEP_SECONDS = 3600.0
_OWNER_SECONDS = 5.0
_STORAGE_SECONDS = 10.0
_ANSWER_SECONDS = 1.5  # for answers that are on their way when the master stops


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan of the next start of an app: what it opens. A stopped app may be started again with another plan.

    Args:
        config: The whole configuration, already merged.
        engine_factory: Makes the engines; the local engine on this machine when not given.
        clock: The time; tests pass their own.
        identity_secret: What an embedded master proves itself with (`GET /info?challenge=`).
        visible_gpus: What the environment says the local engine may use; None for all.
        first_password: That of the built-in users of a new database, which may be hashed while the app is built.
    """

    config: MasterConfig
    engine_factory: EngineFactory | None = None
    clock: Clock = field(default_factory=SystemClock)
    identity_secret: bytes | None = field(default=None, repr=False)
    visible_gpus: str | None = None
    first_password: Future[FirstPassword] | None = field(default=None, repr=False)


def create_app(
    config: MasterConfig,
    *,
    engine_factory: EngineFactory | None = None,
    clock: Clock | None = None,
    identity_secret: bytes | None = None,
    visible_gpus: str | None = None,
    first_password: Future[FirstPassword] | None = None,
    late_routes: bool = False,
) -> Litestar:
    """Build one master as an ASGI application. It opens all at its start and closes all at its stop; see `Plan`.

    `late_routes`: most routes are registered once it serves, for whoever waits for its start (routes/late.py).
    """
    plan = Plan(config, engine_factory, clock or SystemClock(), identity_secret, visible_gpus, first_password)
    with warnings.catch_warnings():
        # handlers name their dependencies and parameters plainly, which Litestar 2 infers and 3 will not
        warnings.simplefilter("ignore", DeprecationWarning)
        routers = nouns.routers(late.FIRST if late_routes else None)
        app = _Application(
            route_handlers=routers,
            guards=[guard],
            dependencies=_dependencies(),
            exception_handlers=exception_handlers(),
            lifespan=[_lifespan],
            before_send=[_count_answer],
            state=State({"plan": plan}),
            request_max_body_size=ORDINARY_BODY,
            openapi_config=openapi_config(),
            cors_config=CORSConfig() if config.enable_cors else None,
            logging_config=None,
        )
    require_rows(nouns.handlers(app))
    if late_routes:
        app.state.late_routes = app.asgi_handler = late.LateRoutes(app, routers)
    app.asgi_handler = by_origin(observed(app.asgi_handler))
    return app


class _Application(Litestar):
    """Litestar that says in one line why it cannot start, where we know: its own message is a traceback."""

    async def __call__(
        self, scope: Scope | LifeSpanScope, receive: Receive | LifeSpanReceive, send: Send | LifeSpanSend
    ) -> None:
        await super().__call__(scope, receive, send if scope["type"] != "lifespan" else partial(self._tell, send))

    async def _tell(self, send: Any, message: LifeSpanSendMessage) -> None:
        why = self.state.get("why_not_started")
        if message["type"] == "lifespan.startup.failed" and why:
            message["message"] = f"cannot start: {why}"
        await send(message)


class MasterServer(uvicorn.Server):
    """A uvicorn that ends long polls and streams before it waits for them, and hangs up on who is slower than that.

    Its connections have deadlines and a number (master/connections.py).
    """

    def __init__(self, config: uvicorn.Config) -> None:
        self.connections = Connections()
        self._sweeps: list[asyncio.Task[Any]] = []
        config.http = cast(Any, partial(BoundedProtocol, limits=self.connections))
        super().__init__(config)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._sweeps = [supervise.spawn(self.connections.sweep(), name="deadlines of connections")]

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        app = self.config.app
        if isinstance(app, Litestar) and "ctx" in app.state:
            app.state.ctx.bus.close()
        hanging_up = asyncio.get_running_loop().call_later(_ANSWER_SECONDS, self._hang_up)
        try:
            await super().shutdown(sockets)
        finally:
            hanging_up.cancel()
            await supervise.stop(*self._sweeps)

    def _hang_up(self) -> None:
        """Hang up: a stalled upload reads as a client that left, which ends its handler in order."""
        for connection in list(self.server_state.connections):
            transport = getattr(connection, "transport", None)
            if transport is not None:
                transport.abort()


@asynccontextmanager
async def _lifespan(app: Litestar) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        try:
            await _open(app.state, stack)
        except DeterminedError as e:
            app.state.why_not_started = e.message
            raise
        yield


async def _open(state: State, stack: AsyncExitStack) -> None:
    plan: Plan = state.plan
    state.throttle, state.metrics, state.log_ring = LoginThrottle(), RequestMetrics(), LogRing()
    state.submit_turns = SubmitTurns()
    state.links = LoginLinks()
    state.request_limits = RequestLimits()
    state.start_pace = StartPace()
    state.identity_secret = plan.identity_secret
    package = logging.getLogger("determined")
    package.addHandler(state.log_ring)
    stack.callback(package.removeHandler, state.log_ring)

    directory = DataDirectory(Path(plan.config.data_dir))
    stack.callback(directory.close)
    await asyncio.to_thread(directory.make_checkpoints)
    plan = replace(plan, config=await with_found_pools(plan.config))
    db = Database(plan.config.db.address or directory.database_url)
    stack.push_async_callback(db.close)
    ownership = Ownership(db.engine)
    stack.push_async_callback(asyncio.to_thread, ownership.release)
    await asyncio.to_thread(ownership.take)
    ctx = await open_context(db, plan.config, directory, plan.clock, plan.first_password)
    stack.callback(ctx.bus.close)
    await _prepare_storage(ctx)
    state.ctx = ctx

    engines = list(plan.engine_factory(ctx) if plan.engine_factory else build_engines(ctx, plan.visible_gpus))
    reconciler = Reconciler(ctx, engines)
    await reconciler.open()
    stack.push_async_callback(reconciler.close)
    stack.push_async_callback(supervise.stop, *_start_loops(ctx))
    state.tunnels = Tunnels()
    state.proxy = Proxy(ctx, state.tunnels, state.request_limits)
    stack.callback(state.tunnels.close)
    pinging = supervise.repeat(state.tunnels.keep_alive, name="pings of tunnels", seconds=PING_SECONDS)
    stack.push_async_callback(supervise.stop, pinging)
    state.streams = StreamHub(ctx)
    state.streams.open()
    stack.push_async_callback(state.streams.close)
    if "late_routes" in state:
        registering = supervise.spawn(_complete_routes(state.late_routes), name="late routes")
        stack.push_async_callback(supervise.stop, registering)
    guarding = supervise.repeat(lambda: _stay_owner(ctx, ownership), name="database ownership", seconds=_OWNER_SECONDS)
    stack.push_async_callback(supervise.stop, guarding)


async def _complete_routes(routes: late.LateRoutes) -> None:
    await routes.register_when_quiet()
    memory.freeze_objects()


async def _prepare_storage(ctx: MasterContext) -> None:
    """Prepare the storage. A file system that hangs must not keep the master from serving."""
    making = asyncio.to_thread(prepare_storage, ctx.config, ctx.cluster.cluster_id)
    try:
        await asyncio.wait_for(making, _STORAGE_SECONDS)
    except TimeoutError:
        logger.warning("the checkpoint storage has not answered within %s s", _STORAGE_SECONDS)


async def _stay_owner(ctx: MasterContext, ownership: Ownership) -> None:
    """Watch the ownership: a master whose database was taken over while it was away must not write into it again."""
    try:
        await asyncio.to_thread(ownership.keep)
    except FailedPrecondition as e:
        logger.critical("%s; this master serves nothing any more, stop it", e.message)
        ctx.db.refuse(e.message)


async def _count_answer(message: Message, scope: Scope) -> None:
    if message["type"] == "http.response.start":  # not for each piece of a long one
        metrics: RequestMetrics = scope["litestar_app"].state.metrics
        metrics.observe(message, scope)


async def open_context(
    db: Database,
    config: MasterConfig,
    directory: DataDirectory,
    clock: Clock,
    first_password: Future[FirstPassword] | None = None,
) -> MasterContext:
    """Migrate the database and read who we are; fills a new one."""
    await asyncio.to_thread(migrate.upgrade, db.engine)
    await db.read(bootstrap.require_whole)
    if await db.read(bootstrap.is_empty):
        configured = config.security.initial_user_password
        password = await (
            asyncio.wrap_future(first_password)
            if first_password is not None
            else asyncio.to_thread(bootstrap.first_password, configured)
        )
        await _populate(db, directory, clock, password)
    cluster_id, secret = await db.read(bootstrap.identity)
    who = ClusterIdentity(cluster_id=cluster_id, master_id=str(uuid.uuid4()), secret=secret)
    return MasterContext(db=db, bus=Bus(), clock=clock, config=config, cluster=who)


async def _populate(db: Database, directory: DataDirectory, clock: Clock, password: FirstPassword) -> None:
    if password.generated is not None:
        # written before the users exist: a crash in between must not leave a cluster nobody can enter
        path = directory.write_secret("initial-password", password.generated + "\n")
        logger.warning("the first password of users 'admin' and 'determined' is in %s", path)

    def write(conn: Connection) -> None:
        bootstrap.populate(conn, clock.now(), password)

    await db.write(write)


def _start_loops(ctx: MasterContext) -> list[asyncio.Task[Any]]:
    """Start everything that happens without being asked for, besides the reconciler."""
    return [
        supervise.spawn(GarbageCollector(ctx).run(), name="checkpoint garbage collector"),
        supervise.spawn(ExperimentDeleter(ctx).run(), name="experiment deleter"),
        supervise.spawn(Proposer(ctx).run(), name="proposer of hyperparameters"),
        supervise.spawn(WebhookSender(ctx).run(), name="webhooks"),
        supervise.repeat(lambda: webhooks.sweep_silence(ctx), name="silent trials", seconds=webhooks.SILENCE_PERIOD_S),
        supervise.repeat(lambda: webhooks.prune(ctx), name="old deliveries", seconds=webhooks.PRUNE_PERIOD_S),
        supervise.repeat(
            lambda: log_retention.sweep(ctx), name="log retention", seconds=lambda: log_retention.until_next(ctx)
        ),
        supervise.repeat(IdleWatch(ctx).step, name="idle tasks", seconds=idle.PERIOD_S),
        supervise.repeat(SilenceSweep(ctx).step, name="unmanaged trials", seconds=unmanaged.PERIOD_S),
        supervise.repeat(lambda: memory.trim(ctx.db.engine), name="memory", seconds=memory.PERIOD_S),
        supervise.repeat(lambda: session.sweep(ctx), name="session sweep", seconds=_SWEEP_SECONDS),
        supervise.repeat(lambda: sweep_tombstones(ctx), name="tombstones of changes", seconds=_SWEEP_SECONDS),
    ]


def _dependencies() -> dict[str, Provide]:
    opened = ("ctx", "throttle", "submit_turns", "links", "log_ring", "streams", "tunnels")
    return {"caller": Provide(_caller, sync_to_thread=False), **{name: _opened(name) for name in opened}}


def _caller(request: Request[Any, Any, Any]) -> Caller:
    return caller_of(request)


def _opened(name: str) -> Provide:
    """Provide what `_open` left in the state under this name; handlers say its type."""

    def get(state: State) -> Any:
        return state[name]

    return Provide(get, sync_to_thread=False)
