// RUN: fp8-opt %s --arith-expand-small-floats | filecheck %s
// RUN: fp8-opt %s --arith-expand-small-floats --inline --canonicalize | filecheck %s --check-prefix=FOLDED

// Integer code between casts to and from the codes; the types stay.

// CHECK-LABEL: func.func @extf(%arg0: tensor<4xf8E4M3FN>)
// CHECK-NEXT:    arith.bitcast %arg0 : tensor<4xf8E4M3FN> to tensor<4xi8>
// CHECK-NOT:     arith.extf
// CHECK:         return %{{.*}} : tensor<4xf32>
func.func @extf(%a: tensor<4xf8E4M3FN>) -> tensor<4xf32> {
  %0 = arith.extf %a : tensor<4xf8E4M3FN> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @truncf(
// CHECK-NOT:     arith.truncf
// CHECK:         %[[CODE:.*]] = arith.trunci %{{.*}} : i8 to i4
// CHECK-NEXT:    %[[F4:.*]] = arith.bitcast %[[CODE]] : i4 to f4E2M1FN
// CHECK-NEXT:    return %[[F4]]
func.func @truncf(%a: f32) -> f4E2M1FN {
  %0 = arith.truncf %a : f32 to f4E2M1FN
  return %0 : f4E2M1FN
}

// Ops without small floats, or on dynamic shapes, are left alone.

// CHECK-LABEL: func.func @others(
// CHECK-NEXT:    arith.extf
// CHECK-NEXT:    arith.extf
// CHECK-NEXT:    return
func.func @others(%a: bf16, %b: tensor<?xf8E5M2>) -> (f32, tensor<?xf32>) {
  %0 = arith.extf %a : bf16 to f32
  %1 = arith.extf %b : tensor<?xf8E5M2> to tensor<?xf32>
  return %0, %1 : f32, tensor<?xf32>
}

// Constants, also those that inlining finds: NaN is NaN, as are -2 and 0 in a format without them.

// FOLDED-LABEL: func.func @constants(
// FOLDED-DAG:     dense<0x7FC00000> : tensor<1xf32>
// FOLDED-DAG:     dense<0xFF> : tensor<2xf8E8M0FNU>
// FOLDED-DAG:     1.000000e+00 : f6E2M3FN
// FOLDED-NEXT:    return
func.func @constants() -> (tensor<1xf32>, tensor<2xf8E8M0FNU>, f6E2M3FN) {
  %c = arith.constant dense<0xFF> : tensor<1xf8E8M0FNU>
  %d = arith.constant dense<[-2.0, 0.0]> : tensor<2xf32>
  %e = arith.constant 1.0 : f6E2M3FN
  %0:3 = call @helper(%c, %d, %e) : (tensor<1xf8E8M0FNU>, tensor<2xf32>, f6E2M3FN) -> (tensor<1xf32>, tensor<2xf8E8M0FNU>, f6E2M3FN)
  return %0#0, %0#1, %0#2 : tensor<1xf32>, tensor<2xf8E8M0FNU>, f6E2M3FN
}

func.func private @helper(%c: tensor<1xf8E8M0FNU>, %d: tensor<2xf32>, %e: f6E2M3FN) -> (tensor<1xf32>, tensor<2xf8E8M0FNU>, f6E2M3FN) {
  %0 = arith.extf %c : tensor<1xf8E8M0FNU> to tensor<1xf32>
  %1 = arith.truncf %d : tensor<2xf32> to tensor<2xf8E8M0FNU>
  %2 = math.floor %e : f6E2M3FN
  return %0, %1, %2 : tensor<1xf32>, tensor<2xf8E8M0FNU>, f6E2M3FN
}
