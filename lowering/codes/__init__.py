"""Small floats become i8: arithmetic on them is arithmetic on their codes."""
