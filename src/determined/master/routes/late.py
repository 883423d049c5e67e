"""Routes that are registered after the start of a master, so that whoever waits for it does not wait for them.

Importing and registering all routes is a third of a start. The first submit needs those of FIRST; the others follow
once the master has served for a moment, a noun at a time, or as soon as a request asks for one of them.
"""

import asyncio
import warnings
from collections.abc import Sequence
from typing import Any

from litestar import Litestar, Router
from litestar.exceptions import HTTPException
from litestar.types import Receive, Scope, Send
from litestar.utils.path import normalize_path

from determined.master.auth.guard import require_rows
from determined.master.routes import nouns
from determined.wire.task import GET_TASK

# What `det e create -f` and a runner ask for, from the first request to the end of the trial.
FIRST = frozenset({"allocation", "experiment", "experiment_actions", "health", "log", "master", "report", "session",
                   "task", "trial", "user"})  # fmt: skip
# Paths of FIRST that would also match that of a later route: a task could have the id `search`. A test finds them.
AMBIGUOUS = frozenset({GET_TASK.path})
_QUIET_SECONDS = 1.0


class LateRoutes:
    """Handler of an app that has the routes of FIRST, which gives it the others.

    Args:
        app: with the routers that are `registered`.
        registered: those of FIRST. The app has more: its OpenAPI routes, which have to know all others.
    """

    def __init__(self, app: Litestar, registered: Sequence[Router]) -> None:
        self._app = app
        self._handle = app.asgi_handler
        self._pending = [name for name in nouns.names() if name not in FIRST]
        routes = (route for router in registered for route in router.routes)
        self._first = {route.path_format for route in routes if route.path not in AMBIGUOUS}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._pending and not self.is_first(scope):
            self.register_all()
        await self._handle(scope, receive, send)

    async def register_when_quiet(self) -> None:
        """Register the others, and let requests pass between two nouns."""
        await asyncio.sleep(_QUIET_SECONDS)
        while self._pending:
            self._register_next()
            await asyncio.sleep(0)

    def register_all(self) -> None:
        while self._pending:
            self._register_next()

    def is_first(self, scope: Any) -> bool:
        """Check whether a request can be answered by a route of FIRST."""
        try:
            found = self._app.asgi_router.handle_routing(normalize_path(scope["path"]), scope.get("method"))
        except HTTPException:
            return False
        return found[-1] in self._first

    def _register_next(self) -> None:
        name = self._pending[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # as in create_app
            for router in nouns.routers([name]):
                require_rows(nouns.handlers_of([router]))
                self._app.register(router)
        self._app.asgi_router.handle_routing.cache_clear()  # of a path that has a better route now
        self._pending.remove(name)  # only now: where it fails, the next request that needs it hears of it as well
