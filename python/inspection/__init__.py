"""What is in a file: the facts that `fp8-translate --inspect` shows."""
