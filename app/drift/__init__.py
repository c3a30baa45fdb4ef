"""Reports of drift in score samples."""
