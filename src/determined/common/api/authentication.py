"""Upstream's logins of the command line: missing here, with another way."""

raise ImportError(
    "determined.common.api.authentication is not implemented; log in with determined.experimental.client.login(master, "
    "user, password), or once with: det user login",
    name=__name__,
)
