from jaxlib.mlir.passmanager import *
