// the conversion to linalg crashed
// arg 0xb13f
// arg 0x00c0
// result bits 0x00c0
func.func @main(%0: tensor<bf16>, %1: tensor<bf16>) -> tensor<bf16> {
  %r = "stablehlo.dynamic_update_slice"(%0, %1) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
  return %r : tensor<bf16>
}
