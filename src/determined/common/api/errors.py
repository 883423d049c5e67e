"""Upstream's `determined.common.api.errors`: its names for what our client raises."""

from determined.api.cert_store import CorruptCertificateCache as CorruptCertificateCacheException
from determined.api.token_store import CorruptTokenCache as CorruptTokenCacheException
from determined.errors import BadMaster as BadResponseException
from determined.errors import DeterminedError as APIException
from determined.errors import DeterminedError as BadRequestException
from determined.errors import Forbidden as ForbiddenException
from determined.errors import MasterNotFound as MasterNotFoundException
from determined.errors import NotFound as NotFoundException
from determined.errors import Unauthenticated as InvalidCredentialsException
from determined.errors import Unauthenticated as UnauthenticatedException


class EmptyResultException(BadResponseException):
    """Upstream's name for an answer without what was asked for; we raise NotFound."""


class DeleteFailedException(APIException):
    """Upstream's name for a deletion that failed; we raise the reason's own class."""


__all__ = [
    "APIException",
    "BadRequestException",
    "BadResponseException",
    "CorruptCertificateCacheException",
    "CorruptTokenCacheException",
    "DeleteFailedException",
    "EmptyResultException",
    "ForbiddenException",
    "InvalidCredentialsException",
    "MasterNotFoundException",
    "NotFoundException",
    "UnauthenticatedException",
]
