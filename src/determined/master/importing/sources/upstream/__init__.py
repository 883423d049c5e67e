"""Import of the database of an upstream master."""
