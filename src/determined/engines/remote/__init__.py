"""What engines of other hosts share: the sitter, which brings up one runner there and stays with it."""
