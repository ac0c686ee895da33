"""The LLVM dialect: real functions in f64, saturating conversions, calls of the thread pool."""
