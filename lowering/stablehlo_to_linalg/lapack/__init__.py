"""The pieces of `stablehlo-lapack-to-calls`: what routines take, the code that calls them."""
