"""The Dask cluster that reads files and runs ranks for jobs; the worker does without it where none is set."""
