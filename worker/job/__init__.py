"""One claimed job: its run and limits, the data it reads, the results it writes."""
