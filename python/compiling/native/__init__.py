"""Machine code that is kept: casts, the cache on disk, and ahead-of-time compilation."""
