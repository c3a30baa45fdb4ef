"""Connection to an optional Dask cluster, which reads files and runs ranks for jobs."""
