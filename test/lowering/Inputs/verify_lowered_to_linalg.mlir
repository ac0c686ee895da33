func.func @stablehlo(%arg0: tensor<f8E5M2>) {
  // expected-error@+1 {{'stablehlo.add' has no lowering to linalg: rewrite it in other ops}}
  %0 = stablehlo.add %arg0, %arg0 : tensor<f8E5M2>
  return
}

// -----

func.func @chlo(%arg0: tensor<f32>) {
  scf.execute_region {
    // expected-error@+1 {{'chlo.erf' has no lowering to linalg: rewrite it in other ops}}
    %0 = chlo.erf %arg0 : tensor<f32> -> tensor<f32>
    scf.yield
  }
  return
}

// -----

func.func @cast(%arg0: tensor<ui8>) {
  // expected-error@+1 {{'builtin.unrealized_conversion_cast' between tensor<ui8>, tensor<i8> is left over: one of them has no lowering}}
  %0 = builtin.unrealized_conversion_cast %arg0 : tensor<ui8> to tensor<i8>
  return
}

// -----

// Small floats are still allowed, and so is every op of a lower level.
// CHECK-LABEL: func.func @linalg
// CHECK: linalg.fill
func.func @linalg(%arg0: f8E4M3FN, %arg1: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  %0 = arith.addf %arg0, %arg0 : f8E4M3FN
  %1 = linalg.fill ins(%0 : f8E4M3FN) outs(%arg1 : tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return %1 : tensor<4xf8E4M3FN>
}
