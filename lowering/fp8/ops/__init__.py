"""The ops of the `fp8` dialect as StableHLO, and as composites in artifacts."""
