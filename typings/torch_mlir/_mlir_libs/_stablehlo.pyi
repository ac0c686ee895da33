from jaxlib.mlir._mlir_libs._stablehlo import *
