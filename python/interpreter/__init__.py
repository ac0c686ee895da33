"""StableHLO's reference interpreter in a child process, with its checks and probes."""
