"""What the types are: the table of float formats and their exact reference conversions."""
