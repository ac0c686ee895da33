"""`python -m benchmarks gpu`: XLA:GPU with our passes beside plain JAX and PyTorch, on one card.

The programs are made where MLIR is (`make`), and run where a GPU is, with jax and numpy alone
(`run`): run.py is copied beside them and imports nothing of this project.
"""
