// RUN: fp8-opt %s --float-normalization --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: func.func @rounds_after_every_op(
// CHECK-SAME:    %[[A:.*]]: tensor<4xf8E4M3FN>, %[[B:.*]]: tensor<4xf8E4M3FN>)
// CHECK-NEXT:    %[[A32:.*]] = stablehlo.convert %[[A]] : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
// CHECK-NEXT:    %[[B32:.*]] = stablehlo.convert %[[B]] : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
// CHECK-NEXT:    %[[SUM:.*]] = stablehlo.add %[[A32]], %[[B32]] : tensor<4xf32>
// CHECK-NEXT:    %[[ROUNDED:.*]] = stablehlo.convert %[[SUM]] : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
// CHECK-NEXT:    %[[SUM32:.*]] = stablehlo.convert %[[ROUNDED]] : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
// CHECK-NEXT:    %[[SQUARE:.*]] = stablehlo.multiply %[[SUM32]], %[[SUM32]] : tensor<4xf32>
// CHECK-NEXT:    %[[RESULT:.*]] = stablehlo.convert %[[SQUARE]] : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
// CHECK-NEXT:    return %[[RESULT]]
func.func @rounds_after_every_op(%a: tensor<4xf8E4M3FN>, %b: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  %0 = stablehlo.add %a, %b : tensor<4xf8E4M3FN>
  %1 = stablehlo.multiply %0, %0 : tensor<4xf8E4M3FN>
  return %1 : tensor<4xf8E4M3FN>
}

// -----

// CHECK-LABEL: func.func @keeps_attributes(
// CHECK:         stablehlo.exponential %{{.*}} {note = 1 : i32, result_accuracy = #stablehlo.result_accuracy<ulps = 10, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
// CHECK:         stablehlo.compare LT, %{{.*}}, %{{.*}}, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
func.func @keeps_attributes(%a: tensor<4xbf16>) -> tensor<4xi1> {
  %0 = stablehlo.exponential %a {note = 1 : i32, result_accuracy = #stablehlo.result_accuracy<ulps = 10, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xbf16>
  %1 = stablehlo.compare LT, %0, %a, FLOAT : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xi1>
  return %1 : tensor<4xi1>
}

// -----

// CHECK-LABEL: func.func @movement(
// CHECK-NOT:     f32
// CHECK:         return
func.func @movement(%a: tensor<4x2xf8E5M2>, %p: tensor<4x2xi1>, %f: tensor<f8E5M2>) -> tensor<4x4xf8E5M2> {
  %c = stablehlo.constant dense<1.0> : tensor<4x2xf8E5M2>
  %0 = stablehlo.select %p, %a, %c : tensor<4x2xi1>, tensor<4x2xf8E5M2>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x2xf8E5M2>) -> tensor<2x4xf8E5M2>
  %2 = stablehlo.pad %1, %f, low = [1, 0], high = [1, 0], interior = [0, 0] : (tensor<2x4xf8E5M2>, tensor<f8E5M2>) -> tensor<4x4xf8E5M2>
  %3 = stablehlo.optimization_barrier %2 : tensor<4x4xf8E5M2>
  return %3 : tensor<4x4xf8E5M2>
}

// -----

// CHECK-LABEL: func.func @wide_stays(
// CHECK-NEXT:    stablehlo.dot_general
// CHECK-NEXT:    stablehlo.tanh
// CHECK-NEXT:    stablehlo.negate
// CHECK-NEXT:    return
func.func @wide_stays(%a: tensor<4x4xf8E4M3FN>, %b: tensor<4x4xf64>) -> (tensor<4x4xf32>, tensor<4x4xf64>) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32>
  %1 = stablehlo.tanh %0 : tensor<4x4xf32>
  %2 = stablehlo.negate %b : tensor<4x4xf64>
  return %1, %2 : tensor<4x4xf32>, tensor<4x4xf64>
}

// -----

// The sign bit alone, NaNs included.

// CHECK-LABEL: func.func @signs(
// CHECK-NEXT:    %[[CODES:.*]] = stablehlo.bitcast_convert %{{.*}} : (tensor<4xf8E4M3FN>) -> tensor<4xi8>
// CHECK-NEXT:    %[[MASK:.*]] = stablehlo.constant dense<-128> : tensor<4xi8>
// CHECK-NEXT:    %[[FLIPPED:.*]] = stablehlo.xor %[[CODES]], %[[MASK]] : tensor<4xi8>
// CHECK-NEXT:    %[[NEGATED:.*]] = stablehlo.bitcast_convert %[[FLIPPED]] : (tensor<4xi8>) -> tensor<4xf8E4M3FN>
// CHECK-NEXT:    stablehlo.bitcast_convert %{{.*}} : (tensor<4xbf16>) -> tensor<4xi16>
// CHECK-NEXT:    stablehlo.constant dense<32767> : tensor<4xi16>
// CHECK-NEXT:    stablehlo.and
// CHECK-NEXT:    stablehlo.bitcast_convert %{{.*}} : (tensor<4xi16>) -> tensor<4xbf16>
func.func @signs(%a: tensor<4xf8E4M3FN>, %b: tensor<4xbf16>) -> (tensor<4xf8E4M3FN>, tensor<4xbf16>) {
  %0 = stablehlo.negate %a : tensor<4xf8E4M3FN>
  %1 = stablehlo.abs %b : tensor<4xbf16>
  return %0, %1 : tensor<4xf8E4M3FN>, tensor<4xbf16>
}

// -----

// The sign bit of an FNUZ zero would be a NaN.

// CHECK-LABEL: func.func @signs_without_negative_zero(
// CHECK:         stablehlo.negate %{{.*}} : tensor<4xf32>
// CHECK-LABEL: func.func @signs_of_e8m0(
// CHECK-SAME:    %[[A:.*]]: tensor<4xf8E8M0FNU>)
// CHECK-NEXT:    return %[[A]]
func.func @signs_without_negative_zero(%a: tensor<4xf8E4M3FNUZ>) -> tensor<4xf8E4M3FNUZ> {
  %0 = stablehlo.negate %a : tensor<4xf8E4M3FNUZ>
  return %0 : tensor<4xf8E4M3FNUZ>
}
func.func @signs_of_e8m0(%a: tensor<4xf8E8M0FNU>) -> tensor<4xf8E8M0FNU> {
  %0 = stablehlo.abs %a : tensor<4xf8E8M0FNU>
  return %0 : tensor<4xf8E8M0FNU>
}

// -----

// CHECK-LABEL: func.func @total_order(
// CHECK:         stablehlo.shift_right_arithmetic
// CHECK:         stablehlo.compare LT, %{{.*}}, %{{.*}}, SIGNED : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi1>
func.func @total_order(%a: tensor<4xf8E5M2>, %b: tensor<4xf8E5M2>) -> tensor<4xi1> {
  %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<4xf8E5M2>, tensor<4xf8E5M2>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

// Every step but the last is exact.

// CHECK-LABEL: func.func @converts(
// CHECK-NEXT:    %[[F:.*]] = stablehlo.convert %{{.*}} : (tensor<4xf8E5M2>) -> tensor<4xf32>
// CHECK-NEXT:    stablehlo.convert %[[F]] : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT:    %[[T:.*]] = stablehlo.convert %{{.*}} : (tensor<4xf8E5M2>) -> tensor<4xf32>
// CHECK-NEXT:    stablehlo.convert %[[T]] : (tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT:    stablehlo.convert %{{.*}} : (tensor<4xf64>) -> tensor<4xf8E5M2>
// CHECK-NEXT:    %[[I:.*]] = stablehlo.convert %{{.*}} : (tensor<4xi32>) -> tensor<4xf64>
// CHECK-NEXT:    stablehlo.convert %[[I]] : (tensor<4xf64>) -> tensor<4xf8E5M2>
// CHECK-NEXT:    %[[H:.*]] = stablehlo.convert %{{.*}} : (tensor<4xui16>) -> tensor<4xf32>
// CHECK-NEXT:    stablehlo.convert %[[H]] : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT:    return
func.func @converts(%a: tensor<4xf8E5M2>, %d: tensor<4xf64>, %i: tensor<4xi32>, %h: tensor<4xui16>) -> (tensor<4xbf16>, tensor<4xi1>, tensor<4xf8E5M2>, tensor<4xf8E5M2>, tensor<4xf16>) {
  %0 = stablehlo.convert %a : (tensor<4xf8E5M2>) -> tensor<4xbf16>
  %1 = stablehlo.convert %a : (tensor<4xf8E5M2>) -> tensor<4xi1>
  %2 = stablehlo.convert %d : (tensor<4xf64>) -> tensor<4xf8E5M2>
  %3 = stablehlo.convert %i : (tensor<4xi32>) -> tensor<4xf8E5M2>
  %4 = stablehlo.convert %h : (tensor<4xui16>) -> tensor<4xf16>
  return %0, %1, %2, %3, %4 : tensor<4xbf16>, tensor<4xi1>, tensor<4xf8E5M2>, tensor<4xf8E5M2>, tensor<4xf16>
}

// -----

// Round to odd where f64 would round.

// CHECK-LABEL: func.func @convert_i64(
// CHECK-SAME:    %[[X:.*]]: tensor<4xi64>)
// CHECK:         stablehlo.or
// CHECK-NEXT:    %[[ODD:.*]] = stablehlo.and %{{.*}}, %{{.*}} : tensor<4xi64>
// CHECK-NEXT:    %[[MAGNITUDE:.*]] = stablehlo.abs %[[X]] : tensor<4xi64>
// CHECK-NEXT:    %[[LIMIT:.*]] = stablehlo.constant dense<9007199254740992> : tensor<4xi64>
// CHECK-NEXT:    %[[LARGE:.*]] = stablehlo.compare GE, %[[MAGNITUDE]], %[[LIMIT]]
// CHECK-NEXT:    %[[EXACT:.*]] = stablehlo.select %[[LARGE]], %[[ODD]], %[[X]] : tensor<4xi1>, tensor<4xi64>
// CHECK-NEXT:    %[[F64:.*]] = stablehlo.convert %[[EXACT]] : (tensor<4xi64>) -> tensor<4xf64>
// CHECK-NEXT:    stablehlo.convert %[[F64]] : (tensor<4xf64>) -> tensor<4xbf16>
func.func @convert_i64(%a: tensor<4xi64>) -> tensor<4xbf16> {
  %0 = stablehlo.convert %a : (tensor<4xi64>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

// CHECK-LABEL: func.func @iotas(
// CHECK-NEXT:    %[[SHORT:.*]] = stablehlo.iota dim = 0 : tensor<4xf32>
// CHECK-NEXT:    stablehlo.convert %[[SHORT]] : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
// CHECK-NEXT:    %[[LONG:.*]] = stablehlo.iota dim = 0 : tensor<16777217xf64>
// CHECK-NEXT:    stablehlo.convert %[[LONG]] : (tensor<16777217xf64>) -> tensor<16777217xbf16>
func.func @iotas() -> (tensor<4xf8E4M3FN>, tensor<16777217xbf16>) {
  %0 = stablehlo.iota dim = 0 : tensor<4xf8E4M3FN>
  %1 = stablehlo.iota dim = 0 : tensor<16777217xbf16>
  return %0, %1 : tensor<4xf8E4M3FN>, tensor<16777217xbf16>
}

// -----

// Bodies round at each op, as the declared type says.

// CHECK-LABEL: func.func @bodies(
// CHECK:         "stablehlo.scatter"
// CHECK:         ^bb0(%[[OLD:.*]]: tensor<bf16>, %[[NEW:.*]]: tensor<bf16>):
// CHECK-NEXT:      %[[OLD32:.*]] = stablehlo.convert %[[OLD]] : (tensor<bf16>) -> tensor<f32>
// CHECK-NEXT:      %[[NEW32:.*]] = stablehlo.convert %[[NEW]] : (tensor<bf16>) -> tensor<f32>
// CHECK-NEXT:      %[[SUM:.*]] = stablehlo.add %[[OLD32]], %[[NEW32]] : tensor<f32>
// CHECK-NEXT:      %[[ROUNDED:.*]] = stablehlo.convert %[[SUM]] : (tensor<f32>) -> tensor<bf16>
// CHECK-NEXT:      stablehlo.return %[[ROUNDED]] : tensor<bf16>
func.func @bodies(%a: tensor<8xbf16>, %i: tensor<2x1xi32>, %u: tensor<2xbf16>) -> tensor<8xbf16> {
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<bf16>, %y: tensor<bf16>):
    %1 = stablehlo.add %x, %y : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }) : (tensor<8xbf16>, tensor<2x1xi32>, tensor<2xbf16>) -> tensor<8xbf16>
  return %0 : tensor<8xbf16>
}

// -----

// CHECK-LABEL: func.func @chlo(
// CHECK:         chlo.erf %{{.*}} : tensor<4xf32> -> tensor<4xf32>
// CHECK:         chlo.broadcast_add %{{.*}}, %{{.*}} : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
func.func @chlo(%a: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  %0 = chlo.erf %a : tensor<4xf8E4M3FN> -> tensor<4xf8E4M3FN>
  %1 = chlo.broadcast_add %0, %a : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return %1 : tensor<4xf8E4M3FN>
}

// -----

func.func @random(%a: tensor<f8E4M3FN>, %shape: tensor<1xi64>) -> tensor<4xf8E4M3FN> {
  // expected-error@+1 {{has no rule for f8E4M3FN; convert to f32 before it and back after}}
  %0 = stablehlo.rng %a, %a, %shape, distribution = UNIFORM : (tensor<f8E4M3FN>, tensor<f8E4M3FN>, tensor<1xi64>) -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}

// -----

func.func @no_sign(%a: tensor<4xf8E8M0FNU>) -> tensor<4xf8E8M0FNU> {
  // expected-error@+1 {{is not possible on f8E8M0FNU, which has no sign; convert first}}
  %0 = stablehlo.negate %a : tensor<4xf8E8M0FNU>
  return %0 : tensor<4xf8E8M0FNU>
}

// -----

func.func @no_zero() -> tensor<4xf8E8M0FNU> {
  // expected-error@+1 {{counts from 0, which f8E8M0FNU has no code for; count in f32}}
  %0 = stablehlo.iota dim = 0 : tensor<4xf8E8M0FNU>
  return %0 : tensor<4xf8E8M0FNU>
}

// -----

func.func @no_nan(%a: tensor<4xf4E2M1FN>) -> tensor<4xf4E2M1FN> {
  // expected-error@+1 {{can give NaN, which f4E2M1FN has no code for; convert to f32 before it and back after}}
  %0 = stablehlo.divide %a, %a : tensor<4xf4E2M1FN>
  return %0 : tensor<4xf4E2M1FN>
}

// -----

func.func @no_order(%a: tensor<4xf8E5M2FNUZ>) -> tensor<4xi1> {
  // expected-error@+1 {{TOTALORDER has no place for the unsigned NaN of f8E5M2FNUZ; compare in f32}}
  %0 = stablehlo.compare LT, %a, %a, TOTALORDER : (tensor<4xf8E5M2FNUZ>, tensor<4xf8E5M2FNUZ>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func @narrow_sum(%a: tensor<4x4xbf16>) -> tensor<4x4xbf16> {
  // expected-error@+1 {{accumulates on bf16; run accumulate-in-f32 before this pass}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  return %0 : tensor<4x4xbf16>
}
