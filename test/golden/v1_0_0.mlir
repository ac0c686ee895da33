// StableHLO 1.0.0: five years of guarantees; a scaled f8 dot that saturates.
func.func @main(%a: tensor<4x8xf8E4M3FN>, %b: tensor<8x2xf8E4M3FN>, %scale: tensor<f32>) -> tensor<4x2xf8E4M3FN> {
  %low = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
  %high = stablehlo.constant dense<4.480000e+02> : tensor<f32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf8E4M3FN>, tensor<8x2xf8E4M3FN>) -> tensor<4x2xf32>
  %1 = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<4x2xf32>
  %3 = stablehlo.clamp %low, %2, %high : (tensor<f32>, tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %4 = stablehlo.convert %3 : (tensor<4x2xf32>) -> tensor<4x2xf8E4M3FN>
  return %4 : tensor<4x2xf8E4M3FN>
}
