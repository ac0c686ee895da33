"""Pass pipelines: one pass manager for upstream, StableHLO and own passes, and its errors."""
