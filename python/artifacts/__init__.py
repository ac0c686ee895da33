"""Versioned StableHLO portable artifacts: written, read, fitted to a version, or refused."""
