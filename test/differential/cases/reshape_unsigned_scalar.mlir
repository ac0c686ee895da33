// the conversion to linalg crashed
// arg 0x02000000
// result bits 0x02000000
func.func @main(%0: tensor<ui32>) -> tensor<ui32> {
  %r = "stablehlo.reshape"(%0) : (tensor<ui32>) -> tensor<ui32>
  return %r : tensor<ui32>
}
