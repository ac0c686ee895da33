"""Functions of real numbers in f64: what `math-expand-in-f64` writes."""
