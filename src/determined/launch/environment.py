"""The one file of the launchers that reads os.environ."""

import os
from collections.abc import Mapping


def variables() -> Mapping[str, str]:
    return os.environ
