"""Upstream's `determined.common.experimental.oauth2_scim_client`."""

from determined.experimental.client import Oauth2ScimClient

__all__ = ["Oauth2ScimClient"]
