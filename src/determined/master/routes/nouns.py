"""Routes of every noun, for the app to serve."""

import importlib
import pkgutil
from types import ModuleType

from litestar import Litestar, Router
from litestar.handlers import BaseRouteHandler
from litestar.routes import HTTPRoute

from determined.master import routes


def routers() -> list[Router]:
    """Make a router of the handlers of each file beside this one.

    They are imported here, inside `create_app`, because declaring them warns; see there.
    """
    names = (module.name for module in pkgutil.iter_modules(routes.__path__))
    modules = (importlib.import_module(f"{routes.__name__}.{name}") for name in names)
    return [_without_options(Router(path="", route_handlers=own)) for own in map(_declared_in, modules) if own]


def _declared_in(module: ModuleType) -> list[BaseRouteHandler]:
    return [value for value in vars(module).values() if isinstance(value, BaseRouteHandler)]


def handlers(app: Litestar) -> list[BaseRouteHandler]:
    """List everything that the app serves."""
    served: list[BaseRouteHandler] = []
    for route in app.routes:
        served += route.route_handlers if isinstance(route, HTTPRoute) else [route.route_handler]
    return served


def _without_options(router: Router) -> Router:
    """Remove the OPTIONS handler that Litestar gives each path of each router: two that share a path would collide."""
    for route in router.routes:
        if isinstance(route, HTTPRoute):
            route.route_handlers = [h for h in route.route_handlers if h.http_methods != {"OPTIONS"}]
    return router
