"""Deletion of what has experiments in it: asks first, and says whether it is done or has begun."""

from collections.abc import Callable

from determined.cli import render


def delete(noun: str, name: str, content: str, run: Callable[[], bool], *, is_confirmed: bool) -> int | None:
    """Delete after a question. `run` returns whether nothing of it is left."""
    if not is_confirmed and not render.ask(f"Delete {noun} '{name}' and its {content}?"):
        return 1
    render.line(f"{'Deleted' if run() else 'Started deletion of'} {noun} {name}")
    return None
