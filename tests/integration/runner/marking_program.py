"""Program of a trial that leaves a mark in every corner where a later trial could find one."""

import atexit
import builtins
import contextvars
import decimal
import gc
import importlib.abc
import locale
import logging
import multiprocessing
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
import warnings
from pathlib import Path


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        return None


os.environ["MARK"] = os.environ["PATH"] = os.environ["TZ"] = "mark"
time.tzset()
Path(tempfile.gettempdir(), "mark").write_text("mark")
Path("/tmp/mark-of-tmp").write_text("mark")
for module in list(sys.modules.values()):
    if isinstance(module, types.ModuleType):
        module.MARK_OF_A_TRIAL = "mark"
builtins.MARK_OF_A_TRIAL = "mark"
sys.modules["mark_of_a_trial"] = types.ModuleType("mark_of_a_trial")
sys.path.insert(0, "/mark")
sys.argv.append("mark")
sys.meta_path.insert(0, Finder())
sys.path_hooks.append(lambda path: (_ for _ in ()).throw(ImportError))
sys.displayhook = lambda *_: None
sys.setrecursionlimit(4321)
sys.setswitchinterval(0.5)
random.seed(1)
gc.disable()
gc.set_threshold(1, 2, 3)
gc.callbacks.append(lambda *_: None)
warnings.simplefilter("ignore")
logging.basicConfig(level=logging.DEBUG)
logging.disable(logging.CRITICAL)
contextvars.ContextVar("mark").set("mark")
decimal.getcontext().prec = 5
socket.setdefaulttimeout(5.0)
threading.stack_size(1 << 20)
multiprocessing.set_start_method("spawn")
atexit.register(lambda: None)
locale.setlocale(locale.LC_ALL, "C")
signal.signal(signal.SIGUSR2, lambda *_: None)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH])
signal.setitimer(signal.ITIMER_PROF, 1000)
os.set_inheritable(os.open("/dev/null", os.O_RDONLY), True)
socket.socketpair()
os.umask(0)
os.nice(1)
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
threading.Thread(target=time.sleep, args=(1000,), daemon=True, name="mark").start()
subprocess.Popen(["/bin/sleep", "1000"], start_new_session=True)
os.chdir("/")
sys.excepthook = lambda *_: None
print("marked")
