"""Reader of TensorBoard's event files."""
