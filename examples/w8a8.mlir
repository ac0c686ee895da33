// A dense layer of an integer model: bytes in, weights with a scale for each column, bytes out.
!x = !quant.uniform<u8:f32, 0.02:117>
!w = !quant.uniform<i8<-127:127>:f32:1, {0.01, 0.02, 0.005}>
!sum = !quant.uniform<i32:f32:1, {0.0002, 0.0004, 0.0001}>
!y = !quant.uniform<u8:f32, 0.05>
func.func @main(%x: tensor<2x4x!x>) -> tensor<2x3x!y> {
  %w = "stablehlo.constant"() {value = dense<[[1, -20, 3], [40, 55, 60], [127, -127, 0], [9, 84, -73]]> : tensor<4x3xi8>} : () -> tensor<4x3x!w>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4x!x>, tensor<4x3x!w>) -> tensor<2x3x!sum>
  %1 = stablehlo.uniform_quantize %0 : (tensor<2x3x!sum>) -> tensor<2x3x!y>
  return %1 : tensor<2x3x!y>
}
