"""Upstream's model registry and OAuth clients: names that user code imports, each of which says that it is missing."""

from enum import Enum
from typing import Any, NoReturn

_REGISTRY = "the model registry is not implemented yet; keep a checkpoint's uuid and read it with get_checkpoint(uuid)"
_OAUTH = "OAuth clients are not implemented; log in with a password or an access token"


class _Missing:
    """A class that can be imported and named in annotations, and not made."""

    _reason = _REGISTRY

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__}: {self._reason}")


class Model(_Missing):
    """A registered model: not implemented yet."""


class ModelVersion(_Missing):
    """A version of a registered model: not implemented yet."""


class Oauth2ScimClient(_Missing):
    """A client of single sign-on: not implemented."""

    _reason = _OAUTH


class ModelSortBy(Enum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    NAME = "SORT_BY_NAME"
    DESCRIPTION = "SORT_BY_DESCRIPTION"
    CREATION_TIME = "SORT_BY_CREATION_TIME"
    LAST_UPDATED_TIME = "SORT_BY_LAST_UPDATED_TIME"
    WORKSPACE = "SORT_BY_WORKSPACE"


class MissingRegistryMethods:
    """Mixed into Determined: calls of upstream's that raise NotImplementedError with another way."""

    @staticmethod
    def create_model(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"create_model(): {_REGISTRY}")

    @staticmethod
    def get_model(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"get_model(): {_REGISTRY}")

    @staticmethod
    def get_model_by_id(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"get_model_by_id(): {_REGISTRY}")

    @staticmethod
    def get_models(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"get_models(): {_REGISTRY}")

    @staticmethod
    def list_models(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"list_models(): {_REGISTRY}")

    @staticmethod
    def get_model_labels(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"get_model_labels(): {_REGISTRY}")

    @staticmethod
    def list_oauth_clients(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"list_oauth_clients(): {_OAUTH}")

    @staticmethod
    def add_oauth_client(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"add_oauth_client(): {_OAUTH}")

    @staticmethod
    def remove_oauth_client(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"remove_oauth_client(): {_OAUTH}")
