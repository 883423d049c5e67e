"""Notes, metadata and labels, which models and their versions have in the same form."""

from determined.master.db.rows.models import ModelValues, ModelVersionValues
from determined.master.services.given import given
from determined.master.services.naming import checked_labels
from determined.wire.model import PatchModel
from determined.wire.model_version import PatchModelVersion


def add_changes(changes: ModelValues | ModelVersionValues, request: PatchModel | PatchModelVersion) -> None:
    """Add what a request changes of them. Raises InvalidArgument for labels that are not usable."""
    if (notes := given(request.notes)) is not None:
        changes["notes"] = notes
    if (metadata := given(request.metadata)) is not None:
        changes["metadata"] = metadata
    if (labels := given(request.labels)) is not None:
        changes["labels"] = checked_labels(labels)
