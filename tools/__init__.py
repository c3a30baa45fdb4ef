"""What is made from the code, and not checked in."""
