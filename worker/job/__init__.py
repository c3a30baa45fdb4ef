"""The run of one claimed job: limits, input data and results."""
