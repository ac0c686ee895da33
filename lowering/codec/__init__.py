"""Small floats and their codes: decoding, and rounding to them, as ops on integers."""
