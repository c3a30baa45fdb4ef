"""Several files of one dataset: read one by one, and joined."""
