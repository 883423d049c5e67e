"""OAuth clients of upstream: names that user code imports, each of which says that it is missing."""

from typing import Any, NoReturn

_REASON = "OAuth clients are not implemented; log in with a password or an access token"


class Oauth2ScimClient:
    """A client of single sign-on: not implemented. It can be imported and named in annotations, and not made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"Oauth2ScimClient: {_REASON}")


class MissingOauthMethods:
    """Mixed into Determined: calls of upstream's that raise NotImplementedError with another way."""

    @staticmethod
    def list_oauth_clients(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"list_oauth_clients(): {_REASON}")

    @staticmethod
    def add_oauth_client(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"add_oauth_client(): {_REASON}")

    @staticmethod
    def remove_oauth_client(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"remove_oauth_client(): {_REASON}")
