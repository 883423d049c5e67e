"""Routes of every noun, for the app to serve."""

import importlib
import pkgutil
from collections.abc import Iterable
from types import ModuleType

from litestar import Litestar, Router
from litestar.handlers import BaseRouteHandler
from litestar.routes import HTTPRoute

from determined.master import routes


def names() -> list[str]:
    """List the files beside this one."""
    return [module.name for module in pkgutil.iter_modules(routes.__path__)]


def routers(chosen: Iterable[str] | None = None) -> list[Router]:
    """Make a router of the handlers of each file beside this one, or of those that are chosen.

    They are imported here, inside `create_app`, because declaring them warns; see there.
    """
    modules = (importlib.import_module(f"{routes.__name__}.{name}") for name in sorted(chosen or names()))
    return [_without_options(Router(path="", route_handlers=own)) for own in map(_declared_in, modules) if own]


def _declared_in(module: ModuleType) -> list[BaseRouteHandler]:
    return [value for value in vars(module).values() if isinstance(value, BaseRouteHandler)]


def handlers(app: Litestar) -> list[BaseRouteHandler]:
    """List everything that the app serves."""
    return handlers_of([app])


def handlers_of(parts: Iterable[Router]) -> list[BaseRouteHandler]:
    served: list[BaseRouteHandler] = []
    for route in (route for part in parts for route in part.routes):
        served += route.route_handlers if isinstance(route, HTTPRoute) else [route.route_handler]
    return served


def _without_options(router: Router) -> Router:
    """Remove the OPTIONS handler that Litestar gives each path of each router: two that share a path would collide."""
    for route in router.routes:
        if isinstance(route, HTTPRoute):
            route.route_handlers = [h for h in route.route_handlers if h.http_methods != {"OPTIONS"}]
    return router
