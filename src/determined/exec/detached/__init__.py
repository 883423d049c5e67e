"""`python -m determined.exec.detached RUN_DIR OWNER`: the process beside a run outside of the cluster (detached mode).

It delivers what the run writes to its directory, gives signs of life, and tells the master how the run ended: also when
the run is killed. It goes on after the run's end until the master has everything, for a day at most.
"""
