"""Exact arithmetic: narrow floats compute in f32 and round where StableHLO says so, in converts."""
