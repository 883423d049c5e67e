"""On PYTHONPATH of a run that is to be paused: its training stands still after a report until it is asked to leave.

So it cannot be over before the pause has come. The file that DET_TEST_GATE names lets it run freely.
"""

import importlib.abc
import importlib.machinery
import os
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

_MODULE = "determined.core._metrics"
_GATE = Path(os.environ["DET_TEST_GATE"])


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname: str, path: Any = None, target: ModuleType | None = None) -> Any:
        if fullname != _MODULE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        assert spec is not None and spec.loader is not None
        run = spec.loader.exec_module

        def run_and_change(module: ModuleType) -> None:
            run(module)
            _hold(module.MetricsContext)

        spec.loader.exec_module = run_and_change
        return spec


def _hold(context: Any) -> None:
    report = context.report

    def report_and_wait(self: Any, group: str, *args: Any, **kwargs: Any) -> None:
        report(self, group, *args, **kwargs)
        control = self._reporter.control
        # a script that has not asked yet whether to leave would be taken for one that never does, and killed
        while group == "training" and control.aware and not control.preempt and not _GATE.exists():
            time.sleep(0.02)

    context.report = report_and_wait


sys.meta_path.insert(0, _Finder())
