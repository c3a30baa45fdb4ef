"""Papers and their experiments."""
