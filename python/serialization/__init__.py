"""Any module as a portable artifact: `fp8` ops as composites, newer small floats emulated."""
