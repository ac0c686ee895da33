"""Serializes modules of any dialect: `fp8` ops as composites, newer small floats emulated."""
