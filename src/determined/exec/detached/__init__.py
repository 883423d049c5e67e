"""`python -m determined.exec.detached RUN_DIR [LOCK]`: the process beside a run outside of the cluster (detached mode).

It delivers what the run writes to its directory, gives signs of life, and tells the master how the run ended: also when
the run is killed. It goes on after the run's end until the master has everything, for a day at most. `LOCK`: the
descriptor of the directory's lock, from the run that starts it. Without one the run is over, and left to be delivered.
"""
