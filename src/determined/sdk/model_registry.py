"""Calls of `Determined` on the model registry."""

from typing import Any

from determined.api import model as api
from determined.api.session import Session
from determined.sdk.deprecation import warn_deprecated
from determined.sdk.enums import ModelSortBy, OrderBy
from determined.sdk.model import Model
from determined.wire.base import OrderBy as WireOrderBy
from determined.wire.model import GetModelsRequestSortBy, ListModels, PostModelRequest


class ModelRegistryMethods:
    """Mixed into Determined."""

    _session: Session

    def create_model(
        self,
        name: str,
        description: str | None = "",
        metadata: dict[str, Any] | None = None,
        labels: list[str] | None = None,
        workspace_name: str | None = None,
    ) -> Model:
        """Create a model without versions.

        Raises:
            InvalidArgument: the name is blank, has slashes or two adjacent spaces, or is only digits.
            AlreadyExists: another model of the cluster has this name.
            NotFound: there is no workspace of that name.
        """
        request = PostModelRequest(
            name=name, description=description, metadata=metadata, labels=labels, workspace_name=workspace_name
        )
        return Model._from_wire(self._session, api.create(self._session, request))

    def get_model(self, identifier: str | int) -> Model:
        """Return the model of that name or id. Raises NotFound when there is none."""
        return Model._from_wire(self._session, api.get(self._session, identifier))

    def get_model_by_id(self, model_id: int) -> Model:
        """Deprecated: get_model."""
        warn_deprecated("get_model_by_id()", "get_model()")
        return self.get_model(model_id)

    def list_models(
        self,
        sort_by: ModelSortBy = ModelSortBy.NAME,
        order_by: OrderBy = OrderBy.ASCENDING,
        name: str | None = None,
        description: str | None = None,
        model_id: int | None = None,
        workspace_names: list[str] | None = None,
        workspace_ids: list[int] | None = None,
    ) -> list[Model]:
        """List the models that match every given filter.

        Args:
            sort_by: what to sort by.
            order_by: up or down.
            name: part of the name, in any case.
            description: part of the description, in any case.
            model_id: the id.
            workspace_names: names of workspaces, any of which the model is in.
            workspace_ids: ids of workspaces, in place of their names.
        """
        params = ListModels(
            sort_by=GetModelsRequestSortBy(sort_by.value),
            order_by=WireOrderBy(order_by.value),
            name=name,
            description=description,
            id=model_id,
            workspace_names=workspace_names,
            workspace_ids=workspace_ids,
        )
        return [Model._from_wire(self._session, row) for row in api.iterate(self._session, params)]

    def get_models(
        self,
        sort_by: ModelSortBy = ModelSortBy.NAME,
        order_by: OrderBy = OrderBy.ASCENDING,
        name: str | None = None,
        description: str | None = None,
        model_id: int | None = None,
        workspace_names: list[str] | None = None,
        workspace_ids: list[int] | None = None,
    ) -> list[Model]:
        """Deprecated: list_models."""
        warn_deprecated("get_models()", "list_models()")
        return self.list_models(sort_by, order_by, name, description, model_id, workspace_names, workspace_ids)

    def get_model_labels(self) -> list[str]:
        """List the labels of all models, the most used first."""
        return api.labels(self._session)
