"""A module becomes a compiled one: its entry and sizes, options, threads, native code."""
