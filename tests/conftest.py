"""For every test: an interrupt is heard as at a terminal, also in a suite that a shell runs in the background."""

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
