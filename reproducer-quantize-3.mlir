func.func @main(%x: tensor<48x96xf32>, %w: tensor<96x64xf32>, %dy: tensor<48x64xf32>)
    -> (tensor<48x64xf32>, tensor<96x64xf32>, tensor<48x96xf32>) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<48x96xf32>, tensor<96x64xf32>) -> tensor<48x64xf32>
  %dw = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0] {mlir_fp8.gradient = "rhs"}
    : (tensor<48x96xf32>, tensor<48x64xf32>) -> tensor<96x64xf32>
  %dx = stablehlo.dot_general %dy, %w, contracting_dims = [1] x [1] {mlir_fp8.gradient = "lhs"}
    : (tensor<48x64xf32>, tensor<96x64xf32>) -> tensor<48x96xf32>
  return %y, %dw, %dx : tensor<48x64xf32>, tensor<96x64xf32>, tensor<48x96xf32>
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module()",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
