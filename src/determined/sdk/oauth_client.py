"""OAuth clients: programs, such as an identity provider, that a master lets in by single sign-on (SCIM, OAuth 2)."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

from determined.api.session import Session
from determined.errors import EnterpriseOnlyError, NotFound

_PATH = "/oauth2/clients"


class Oauth2ScimClient:
    """A client that the master knows. `secret`: only in the answer of `add_oauth_client`; it is not shown again."""

    def __init__(self, client_id: str, domain: str, name: str, secret: str | None = None) -> None:
        self.id = client_id
        self.domain = domain
        self.name = name
        self.secret = secret


class OauthMethods:
    """Methods of Determined for OAuth clients.

    Each raises EnterpriseOnlyError where the master serves no OAuth clients, as this release's master.
    """

    _session: Session

    def list_oauth_clients(self) -> list[Oauth2ScimClient]:
        """List the OAuth clients, without their secrets."""
        with _explained():
            rows = self._session.get(_PATH)
        return [Oauth2ScimClient(str(row["id"]), row["domain"], row["name"]) for row in rows]

    def add_oauth_client(self, domain: str, name: str) -> Oauth2ScimClient:
        """Let a client in. Keep its secret: the master does not show it again.

        Args:
            domain: address that users are sent back to.
            name: what the client is called in lists.
        """
        with _explained():
            row = self._session.post(_PATH, {"domain": domain, "name": name})
        return Oauth2ScimClient(str(row["id"]), domain, name, str(row["secret"]))

    def remove_oauth_client(self, client_id: str) -> None:
        """Let a client in no more."""
        with _explained():
            self._session.delete(f"{_PATH}/{quote(client_id, safe='')}")


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except NotFound as e:
        raise EnterpriseOnlyError(
            "this master serves no OAuth clients; log in with a password or an access token: det token create"
        ) from e
