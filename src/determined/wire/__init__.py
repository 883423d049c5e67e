"""Request and response structs of the REST API, one file per noun. No behaviour."""
