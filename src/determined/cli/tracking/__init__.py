"""`det run`: any program on this machine as an unmanaged trial."""
