"""One file per job kind: run the job and store its result."""
