"""Products of two FP8 matrices on Hopper's tensor cores, with their epilogue, in one kernel."""
