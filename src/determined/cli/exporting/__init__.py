"""`det experiment export`: reads experiments over the REST API, as whoever is logged in, and writes them elsewhere.

`selection` says which, `records` reads a trial at a time, `bundle` writes a file, `mlflow` fills a tracking server.
"""
