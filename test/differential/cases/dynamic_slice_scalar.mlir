// the conversion to linalg crashed
// arg 0xb13f
// result bits 0xb13f
func.func @main(%0: tensor<bf16>) -> tensor<bf16> {
  %r = "stablehlo.dynamic_slice"(%0) <{slice_sizes = array<i64>}> : (tensor<bf16>) -> tensor<bf16>
  return %r : tensor<bf16>
}
