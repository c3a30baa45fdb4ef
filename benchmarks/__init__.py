"""Measured comparisons; each module is a command, reached through `make bench-…`."""
