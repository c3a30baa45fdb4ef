"""One training on several processes: a driver, the ranks that it leads, and where they run."""
