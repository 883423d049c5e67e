"""Start a kernel with the ipykernel of a shared environment: `python start_kernel.py DIRECTORY -f CONNECTION_FILE`.

Run by its path, in the user's Python, so that nothing but the kernel is imported before the user's code.
"""

import sys
from pathlib import Path


def main() -> None:
    """Append the directory to the search path, where it comes after everything of the user's, and become the kernel."""
    own = str(Path(__file__).parent)
    if sys.path and sys.path[0] == own:
        del sys.path[0]
    sys.path.append(sys.argv.pop(1))
    from ipykernel.kernelapp import launch_new_instance  # type: ignore[import-not-found, unused-ignore]

    launch_new_instance()


if __name__ == "__main__":
    main()
