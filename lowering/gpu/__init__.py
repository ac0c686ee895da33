"""GPU kernels: from functions of gpu, nvvm, vector, arith and memref ops to PTX."""
