# The wheel ships no stubs for its MLIR core; jaxlib's are of the same bindings.
from jaxlib.mlir.ir import *
