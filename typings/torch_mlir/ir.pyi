# The wheel ships no stubs for its MLIR core; jaxlib's are of the same bindings. Published with the
# package, so that modules have a type for its users too.
from typing import Any

from jaxlib.mlir.ir import *

def __getattr__(name: str) -> Any: ...  # what torch-mlir has beyond them
