"""From a module to a compiled one: its entry and sizes, options, threads, native code."""
