"""Small floats become i8, and their arithmetic becomes arithmetic on codes."""
