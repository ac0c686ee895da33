"""Versioned StableHLO portable artifacts: written, read, downgraded to a version, or refused."""
