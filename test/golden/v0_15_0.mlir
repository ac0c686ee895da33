// StableHLO 0.15.0: MLIR bytecode of version 6, attributes as properties.
func.func @main(%a: tensor<3x4x8xf8E4M3FN>, %b: tensor<3x8x2xf8E4M3FN>) -> (tensor<3x4x2xf32>, tensor<3x4x1xi32>) {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGH, DEFAULT] : (tensor<3x4x8xf8E4M3FN>, tensor<3x8x2xf8E4M3FN>) -> tensor<3x4x2xf32>
  %iota = stablehlo.iota dim = 2 : tensor<3x4x2xi32>
  %1:2 = "stablehlo.sort"(%0, %iota) <{dimension = 2 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %3 = stablehlo.compare GT, %x, %y, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<3x4x2xf32>, tensor<3x4x2xi32>) -> (tensor<3x4x2xf32>, tensor<3x4x2xi32>)
  %2 = stablehlo.slice %1#1 [0:3, 0:4, 0:1] : (tensor<3x4x2xi32>) -> tensor<3x4x1xi32>
  return %1#0, %2 : tensor<3x4x2xf32>, tensor<3x4x1xi32>
}
