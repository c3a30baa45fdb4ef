"""Studies: tuning with trials, and what they conclude."""
