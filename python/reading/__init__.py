"""A module in: files, bytes and text of every kind, MHLO and HLO by way of jaxlib."""
