"""Reader of Optuna's storages: databases and journal files. The package `optuna` is not needed."""
