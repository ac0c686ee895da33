"""What loops cost, and which of them may be shared among threads or vectorized."""
