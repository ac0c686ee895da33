// StableHLO 0.17.0: reductions whose result is wider than their operands.
func.func @main(%a: tensor<4x8xf8E4M3FN>, %init: tensor<f8E4M3FN>) -> tensor<4xf32> {
  %0 = stablehlo.reduce(%a init: %init) across dimensions = [1] : (tensor<4x8xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<4xf32>
  reducer(%x: tensor<f32>, %y: tensor<f32>) {
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  return %0 : tensor<4xf32>
}
