"""The pieces of `stablehlo-lapack-to-calls`: what each routine takes, and the code that calls it."""
