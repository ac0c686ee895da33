"""Several devices in one process: threads of the same native code that meet in collectives."""
