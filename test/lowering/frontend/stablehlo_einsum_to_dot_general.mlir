// RUN: fp8-opt %s --stablehlo-einsum-to-dot-general --split-input-file --verify-diagnostics | filecheck %s

// The operands in f32, the sum of a label that `k` alone has, the product, and one rounding.

// CHECK-LABEL: func.func @narrow(
// CHECK-NEXT:    %[[A:.*]] = stablehlo.convert %arg0 : (tensor<2x3x4xf8E4M3FN>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    %[[B:.*]] = stablehlo.convert %arg1 : (tensor<4x5xf8E5M2>) -> tensor<4x5xf32>
// CHECK-NEXT:    %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[SUM:.*]] = stablehlo.reduce(%[[B]] init: %[[ZERO]]) applies stablehlo.add across dimensions = [1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[DOT:.*]] = stablehlo.dot_general %[[A]], %[[SUM]], contracting_dims = [2] x [0], precision = [HIGHEST, DEFAULT] : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %[[T:.*]] = stablehlo.transpose %[[DOT]], dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    %[[C:.*]] = stablehlo.convert %[[T]] : (tensor<3x2xf32>) -> tensor<3x2xbf16>
// CHECK-NEXT:    return %[[C]]
func.func @narrow(%a: tensor<2x3x4xf8E4M3FN>, %b: tensor<4x5xf8E5M2>) -> tensor<3x2xbf16> {
  %0 = "stablehlo.einsum"(%a, %b) {einsum_config = "bij,jk->ib", precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]} : (tensor<2x3x4xf8E4M3FN>, tensor<4x5xf8E5M2>) -> tensor<3x2xbf16>
  return %0 : tensor<3x2xbf16>
}

// -----

// CHECK-LABEL: func.func @broadcast(
// CHECK-NEXT:    %[[A:.*]] = stablehlo.reshape %arg0 : (tensor<1x3x4xui8>) -> tensor<3x4xui8>
// CHECK-NEXT:    %[[DOT:.*]] = stablehlo.dot_general %[[A]], %arg1, contracting_dims = [1] x [1] : (tensor<3x4xui8>, tensor<2x4x5xui8>) -> tensor<3x2x5xui8>
// CHECK-NEXT:    stablehlo.transpose %[[DOT]], dims = [1, 0, 2]
func.func @broadcast(%a: tensor<1x3x4xui8>, %b: tensor<2x4x5xui8>) -> tensor<2x3x5xui8> {
  %0 = "stablehlo.einsum"(%a, %b) {einsum_config = "...ij,...jk->...ik"} : (tensor<1x3x4xui8>, tensor<2x4x5xui8>) -> tensor<2x3x5xui8>
  return %0 : tensor<2x3x5xui8>
}

// -----

// What only moves elements stays in their type.

// CHECK-LABEL: func.func @diagonal(
// CHECK-NEXT:    %[[T:.*]] = stablehlo.transpose %arg0, dims = [1, 0, 2] : (tensor<3x2x3xf8E5M2>) -> tensor<2x3x3xf8E5M2>
// CHECK-NEXT:    %[[ROW:.*]] = stablehlo.reshape %[[T]] : (tensor<2x3x3xf8E5M2>) -> tensor<2x9xf8E5M2>
// CHECK-NEXT:    %[[CUT:.*]] = stablehlo.slice %[[ROW]] [0:2, 0:9:4] : (tensor<2x9xf8E5M2>) -> tensor<2x3xf8E5M2>
// CHECK-NEXT:    return %[[CUT]]
func.func @diagonal(%a: tensor<3x2x3xf8E5M2>) -> tensor<2x3xf8E5M2> {
  %0 = "stablehlo.unary_einsum"(%a) {einsum_config = "iji->ji"} : (tensor<3x2x3xf8E5M2>) -> tensor<2x3xf8E5M2>
  return %0 : tensor<2x3xf8E5M2>
}

// -----

// CHECK-LABEL: func.func @diagonal_of_zeros(
// CHECK-NEXT:    %[[ZERO:.*]] = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
// CHECK-NEXT:    %[[ROW:.*]] = stablehlo.pad %arg0, %[[ZERO]], low = [0], high = [0], interior = [3] : (tensor<3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<9xcomplex<f32>>
// CHECK-NEXT:    stablehlo.reshape %[[ROW]] : (tensor<9xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
func.func @diagonal_of_zeros(%a: tensor<3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>> {
  %0 = "stablehlo.unary_einsum"(%a) {einsum_config = "i->ii"} : (tensor<3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
  return %0 : tensor<3x3xcomplex<f32>>
}

// -----

func.func @no_arrow(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{has the equation 'ij': it needs one '->', and the result after it}}
  %0 = "stablehlo.unary_einsum"(%a) {einsum_config = "ij"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @operands(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{has 2 operands, its equation 'ij->ij' 1: name each}}
  %0 = "stablehlo.einsum"(%a, %a) {einsum_config = "ij->ij"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @characters(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{has 'i1' in its equation: use letters and at most one '...'}}
  %0 = "stablehlo.unary_einsum"(%a) {einsum_config = "i1->i"} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @rank(%a: tensor<2x3xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{has 'i' for an operand of rank 2: give a label per dimension}}
  %0 = "stablehlo.unary_einsum"(%a) {einsum_config = "i->i"} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @sizes(%a: tensor<2x3xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{has the label 'i' for sizes 2 and 3: make them equal}}
  %0 = "stablehlo.unary_einsum"(%a) {einsum_config = "ii->i"} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @broadcast_sizes(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{has '...' for sizes 2 and 3: make them equal}}
  %0 = "stablehlo.einsum"(%a, %b) {einsum_config = "...,...->..."} : (tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @label_of_the_result(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{has the label 'j' in its result alone: broadcast that after it}}
  %0 = "stablehlo.unary_einsum"(%a) {einsum_config = "i->j"} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @shape(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{gives [3, 2] by its equation 'ij->ji': declare that, not [2, 3]}}
  %0 = "stablehlo.unary_einsum"(%a) {einsum_config = "ij->ji"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @dynamic(%a: tensor<?x3xf32>) -> tensor<3x?xf32> {
  // expected-error@+1 {{on tensor<?x3xf32> needs a static shape: refine shapes first}}
  %0 = "stablehlo.unary_einsum"(%a) {einsum_config = "ij->ji"} : (tensor<?x3xf32>) -> tensor<3x?xf32>
  return %0 : tensor<3x?xf32>
}

// -----

func.func @no_zero(%a: tensor<2xf8E8M0FNU>) -> tensor<2x2xf8E8M0FNU> {
  // expected-error@+1 {{has zeros beside a diagonal, which f8E8M0FNU has no code for; convert to f32 first}}
  %0 = "stablehlo.unary_einsum"(%a) {einsum_config = "i->ii"} : (tensor<2xf8E8M0FNU>) -> tensor<2x2xf8E8M0FNU>
  return %0 : tensor<2x2xf8E8M0FNU>
}

// -----

func.func @float_to_integer(%a: tensor<2xf32>) -> tensor<i32> {
  // expected-error@+1 {{of floats gives i32: give it a float result and convert that}}
  %0 = "stablehlo.unary_einsum"(%a) {einsum_config = "i->"} : (tensor<2xf32>) -> tensor<i32>
  return %0 : tensor<i32>
}
