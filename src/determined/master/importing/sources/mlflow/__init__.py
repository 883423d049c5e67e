"""Reader of MLflow's tracking directories and databases. The package `mlflow` is not needed."""
