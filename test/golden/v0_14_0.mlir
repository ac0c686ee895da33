// StableHLO 0.14.0: MLIR bytecode of version 4; dynamic shapes.
func.func @main(%a: tensor<?x8xf8E4M3FN>, %shape: tensor<2xi32>) -> tensor<?x?xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %shape, dims = [0, 1] : (tensor<?x8xf8E4M3FN>, tensor<2xi32>) -> tensor<?x?xf8E4M3FN>
  %1 = stablehlo.convert %0 : (tensor<?x?xf8E4M3FN>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
