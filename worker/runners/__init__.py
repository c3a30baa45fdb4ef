"""Run the jobs of each kind and store their results."""
