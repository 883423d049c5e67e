"""Reader of MLflow's tracking directories, databases and servers. The package `mlflow` is not needed."""
