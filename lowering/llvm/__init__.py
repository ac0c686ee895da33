"""The LLVM dialect: real functions in f64, conversions that saturate, calls of the thread pool."""
