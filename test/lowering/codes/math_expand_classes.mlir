// RUN: fp8-opt %s --math-expand-classes --split-input-file | filecheck %s

// CHECK-LABEL: func.func @isinf(
// CHECK-DAG:     %[[INF:.*]] = arith.constant dense<0x7F800000> : tensor<3xf32>
// CHECK-DAG:     %[[ABS:.*]] = math.absf %arg0 : tensor<3xf32>
// CHECK:         %[[IS:.*]] = arith.cmpf oeq, %[[ABS]], %[[INF]] : tensor<3xf32>
// CHECK-NEXT:    return %[[IS]]
func.func @isinf(%a: tensor<3xf32>) -> tensor<3xi1> {
  %0 = math.isinf %a : tensor<3xf32>
  return %0 : tensor<3xi1>
}

// -----

// The smallest normal number is that of f8E4M3FN.

// CHECK-LABEL: func.func @isnormal(
// CHECK:         %[[WIDE:.*]] = arith.extf %arg0 : f8E4M3FN to f32
// CHECK:         %[[ABS:.*]] = math.absf %[[WIDE]] : f32
// CHECK:         arith.constant 1.562500e-02 : f32
// CHECK:         arith.cmpf oge, %[[ABS]]
// CHECK:         arith.cmpf olt, %[[ABS]]
// CHECK:         arith.andi
func.func @isnormal(%a: f8E4M3FN) -> i1 {
  %0 = math.isnormal %a : f8E4M3FN
  return %0 : i1
}

// -----

// CHECK-LABEL: func.func @clampf(
// CHECK-NEXT:    %[[LOW:.*]] = arith.maximumf %arg0, %arg1 : f64
// CHECK-NEXT:    arith.minimumf %[[LOW]], %arg2 : f64
func.func @clampf(%x: f64, %low: f64, %high: f64) -> f64 {
  %0 = math.clampf %x to [%low, %high] : f64
  return %0 : f64
}

// -----

// Of which no constant can be written yet.

// CHECK-LABEL: func.func @open(
// CHECK:         math.isinf %arg0 : tensor<?xf32>
func.func @open(%a: tensor<?xf32>) -> tensor<?xi1> {
  %0 = math.isinf %a : tensor<?xf32>
  return %0 : tensor<?xi1>
}
