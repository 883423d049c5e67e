"""Start `det` of the distribution `redetermined`, and name upstream's `determined` where it is in the way.

A module outside the package `determined`: it must still run where upstream's distribution of that name hides ours.
"""

import sys

FIX = (
    "pip uninstall -y determined redetermined, then install this project again:"
    " pip install REDETERMINED.whl or a checkout"
)


def main() -> int:
    """Run the command line. Returns its exit status."""
    try:
        from determined.cli.main import main as run
    except ImportError:
        import determined

        if not is_upstreams(list(determined.__path__)):
            raise
        sys.stderr.write(f"det: error: {determined.__path__[0]} is upstream's package, not this project's; {FIX}\n")
        return 1
    return run()


def is_upstreams(places: list[str]) -> bool:
    """Return whether a package directory holds files that only upstream's `determined` has."""
    import os

    return any(os.access(f"{place}/_execution.py", os.F_OK) for place in places)


if __name__ == "__main__":
    sys.exit(main())
