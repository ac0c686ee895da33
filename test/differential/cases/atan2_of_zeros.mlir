// folded to NaN
// result near 0x49c0
func.func @main() -> (tensor<bf16>) {
  %8 = "stablehlo.constant"() <{value = dense<"0x0080"> : tensor<bf16>}> : () -> (tensor<bf16>)
  %12 = "stablehlo.atan2"(%8, %8) : (tensor<bf16>, tensor<bf16>) -> (tensor<bf16>)
  return %12 : tensor<bf16>
}
