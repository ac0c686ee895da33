"""Products of groups of rows, or of summands, whose sizes are on the device, in one kernel."""
