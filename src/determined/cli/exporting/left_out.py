"""Things of a cluster that a bundle of all its experiments does not have."""

from determined.api import model, template, webhook
from determined.api.session import Session
from determined.wire.model import ListModels


def left_out(session: Session) -> list[str]:
    """Name what the user sees and the bundle lacks, as one sentence; nothing where there is none."""
    models = list(model.iterate(session, ListModels()))
    versions = sum(one.num_versions for one in models)
    parts = [
        _counted(len(models), "model") + (f" with {_counted(versions, 'version')}" if versions else ""),
        _counted(len(webhook.listing(session)), "webhook"),
        _counted(sum(1 for _ in template.iterate(session)), "template"),
    ]
    present = [part for part in parts if not part.startswith("0 ")]
    return [f"not in it: {', '.join(present)}"] if present else []


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
