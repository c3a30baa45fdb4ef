"""Read several files one by one, and join them to one dataset."""
