"""Entry of `det master import bundle`."""

from pathlib import Path

from determined.bundle.reader import Bundle
from determined.errors import FailedPrecondition, InvalidArgument
from determined.master.importing.registry import Finished, Request
from determined.master.importing.sources.bundle.run import BundleImport


def run(request: Request) -> Finished:
    """Import what a bundle has."""
    bundle = Bundle(Path(request.source))
    try:
        return BundleImport(request, bundle).run()
    except ImportError as e:
        raise FailedPrecondition(f"{request.source} has its tables as Parquet: {e}") from e
    except OverflowError as e:
        raise InvalidArgument(f"{request.source} has a number that no database takes ({e}); export it again") from e
    finally:
        bundle.close()
