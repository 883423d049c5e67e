"""For every test: an interrupt means what it means at a terminal. A suite started in the background inherits a deaf one."""

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
