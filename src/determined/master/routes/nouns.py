"""Every noun's routes, for the app to serve."""

from litestar import Litestar, Router
from litestar.handlers import BaseRouteHandler
from litestar.routes import HTTPRoute


def routers() -> list[Router]:
    """Imported here, inside `create_app`, because declaring them warns; see there."""
    from determined.master.routes import (
        agent,
        allocation,
        bridge,
        checkpoint,
        claim,
        custom_search,
        docs,
        dry_run,
        environment_lock,
        experiment,
        experiment_actions,
        guide,
        health,
        hp_analysis,
        job,
        log,
        lookup,
        master,
        metric,
        pool,
        project,
        report,
        resource_allocation,
        run,
        search,
        session,
        stream,
        task,
        token,
        trial,
        user,
        view,
        webui,
        workspace,
    )

    nouns = (
        agent, allocation, bridge, checkpoint, claim, custom_search, docs, dry_run, environment_lock, experiment,
        experiment_actions, guide, health, hp_analysis, job, log, lookup, master, metric, pool, project, report,
        resource_allocation, run, search, session, stream, task, token, trial, user, view, webui, workspace,
    )  # fmt: skip
    return [_without_options(noun.router) for noun in nouns]


def handlers(app: Litestar) -> list[BaseRouteHandler]:
    """Everything that the app serves."""
    found: list[BaseRouteHandler] = []
    for route in app.routes:
        found += route.route_handlers if isinstance(route, HTTPRoute) else [route.route_handler]
    return found


def _without_options(router: Router) -> Router:
    """Litestar gives each path of each router an OPTIONS handler; two nouns that share a path would then collide."""
    for route in router.routes:
        if isinstance(route, HTTPRoute):
            route.route_handlers = [h for h in route.route_handlers if h.http_methods != {"OPTIONS"}]
    return router
