"""Read several files one after another, and join them to one dataset."""
