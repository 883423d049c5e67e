"""Resource managers: they turn "start this runner on that node with those slots" into processes and yield events."""
