"""What is made from the code."""
