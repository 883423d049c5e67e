"""Program of a trial that reports everything it can see of its process and interpreter, as one line of JSON."""

# ruff: noqa: E402, PTH109, PTH115, PTH208 (imports come after the look at what is there, and few of them)

import json
import os
import sys

kept = sorted(vars(sys.modules["__main__"]))
loaded = sorted(sys.modules)

import atexit
import contextvars
import decimal
import gc
import locale
import logging
import multiprocessing
import resource
import signal
import site
import socket
import tempfile
import threading
import time
import warnings
from pathlib import Path

SELF = Path("/proc/self")
status = dict(line.partition(":\t")[::2] for line in (SELF / "status").read_text().splitlines())
marked_modules = sorted(
    name for name, module in sys.modules.items() if name != "__main__" and hasattr(module, "MARK_OF_A_TRIAL")
)
main, main_thread = sys.modules["__main__"], threading.main_thread()

state = {
    "variables": dict(os.environ),
    "environ of /proc": f"DET_RUN_DIR={os.environ['DET_RUN_DIR']}" in (SELF / "environ").read_text().split("\0"),
    "command": (SELF / "cmdline").read_text().rstrip("\0").split("\0"),
    "name": status["Name"],
    "cwd": os.getcwd(),
    "argv": [sys.argv, sys.orig_argv],
    "path": sys.path,
    "python": [sys.executable, sys.prefix, sys.base_prefix, repr(sys.flags), sys.warnoptions, sys._xoptions],
    "main": [kept, main.__file__, main.__cached__, repr(main.__spec__).split(" at ")[0], main.__package__],
    "main loader": type(main.__loader__).__name__,
    "handlers": {number.name: repr(signal.getsignal(number)).split(" at ")[0] for number in signal.Signals},
    "masks": [status[name] for name in ("SigBlk", "SigIgn", "SigPnd", "ShdPnd")],
    "timers": [signal.getitimer(timer) for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)],
    "umask": status["Umask"],
    "threads": [status["Threads"], [thread.name for thread in threading.enumerate()]],
    "main thread": [threading.current_thread() == main_thread, main_thread.native_id == os.getpid()],
    "descriptors": {fd: os.readlink(SELF / "fd" / fd).split(":")[0] for fd in sorted(os.listdir(SELF / "fd"))[:-1]},
    "limits": {name: resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name[:7] == "RLIMIT_"},
    "scheduling": [os.nice(0), sorted(os.sched_getaffinity(0)), os.sched_getscheduler(0)],
    "rights": [os.getresuid(), os.getresgid(), os.getgroups(), [status[name] for name in status if name[:3] == "Cap"]],
    "cgroup": (SELF / "cgroup").read_text(),
    "oom": (SELF / "oom_score_adj").read_text(),
    "group": os.getpgid(0) == os.getpid(),
    "session": os.getsid(0) == os.getppid(),
    "children": (SELF / "task" / str(os.getpid()) / "children").read_text(),
    "locale": [locale.setlocale(locale.LC_ALL), sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()],
    "zone": time.tzname,
    "streams": [
        [stream.encoding, stream.errors, stream.line_buffering, stream.write_through, type(stream.buffer).__name__]
        for stream in (sys.stdin, sys.stdout, sys.stderr)
    ],
    "collector": [gc.isenabled(), gc.get_threshold(), len(gc.callbacks), gc.get_debug()],
    "limits of Python": [sys.getrecursionlimit(), sys.getswitchinterval(), sys.get_int_max_str_digits()],
    "hooks": [
        sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__, sys.gettrace(), sys.getprofile(),
        threading.excepthook is threading.__excepthook__, sys.unraisablehook is sys.__unraisablehook__,
    ],
    "finders": [repr(getattr(finder, "__name__", type(finder).__name__)) for finder in sys.meta_path],
    "path hooks": len(sys.path_hooks),
    "logging": [logging.root.level, len(logging.root.handlers), logging.root.manager.disable],
    "warnings": [repr(one) for one in warnings.filters],
    "context": len(contextvars.copy_context()),
    "decimals": decimal.getcontext().prec,
    "sockets": socket.getdefaulttimeout(),
    "stack": threading.stack_size(),
    "start method": multiprocessing.get_start_method(allow_none=True),
    "exit functions": atexit._ncallbacks(),
    "temporary": [tempfile.gettempdir(), sorted(os.listdir(tempfile.gettempdir()))],
    "site": [site.ENABLE_USER_SITE, site.getuserbase(), site.getusersitepackages()],
    "marked modules": marked_modules,
    "unknown modules": sorted(name for name in loaded if "mark_of" in name),
}  # fmt: skip
print("STATE" + json.dumps(state))
