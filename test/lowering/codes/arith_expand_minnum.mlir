// RUN: fp8-opt %s --arith-expand-minnum --split-input-file | filecheck %s

// CHECK-LABEL: func.func @minnumf(
// CHECK-NEXT:    %[[B_NAN:.*]] = arith.cmpf uno, %arg1, %arg1 : tensor<?xf32>
// CHECK-NEXT:    %[[LEAST:.*]] = arith.minimumf %arg0, %arg1 : tensor<?xf32>
// CHECK-NEXT:    %[[OF_A:.*]] = arith.select %[[B_NAN]], %arg0, %[[LEAST]]
// CHECK-NEXT:    %[[A_NAN:.*]] = arith.cmpf uno, %arg0, %arg0 : tensor<?xf32>
// CHECK-NEXT:    %[[RESULT:.*]] = arith.select %[[A_NAN]], %arg1, %[[OF_A]]
// CHECK-NEXT:    return %[[RESULT]]
func.func @minnumf(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.minnumf %a, %b : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @maxnumf(
// CHECK:         arith.maximumf %arg0, %arg1 : f8E5M2
func.func @maxnumf(%a: f8E5M2, %b: f8E5M2) -> f8E5M2 {
  %0 = arith.maxnumf %a, %b : f8E5M2
  return %0 : f8E5M2
}
