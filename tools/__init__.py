"""Code generators and repository checks."""
