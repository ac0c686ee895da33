// RUN: fp8-opt %s --tensor-pad-to-insert-slice | FileCheck %s

// The border is filled, outermost dimension first, and the source is inserted.
// CHECK-LABEL: func.func @border(
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<6x8xf32>
// CHECK: %[[ROW:.*]] = tensor.extract_slice %[[EMPTY]][0, 0] [1, 8] [1, 1]
// CHECK: %[[FILL:.*]] = linalg.fill ins(%arg1 : f32) outs(%[[ROW]]
// CHECK: %[[A:.*]] = tensor.insert_slice %[[FILL]] into %[[EMPTY]][0, 0] [1, 8] [1, 1]
// CHECK: tensor.extract_slice %[[A]][5, 0] [1, 8] [1, 1]
// CHECK: tensor.extract_slice {{.*}}[1, 7] [4, 1] [1, 1]
// CHECK: %[[LAST:.*]] = tensor.insert_slice {{.*}}[1, 7] [4, 1] [1, 1]
// CHECK-NEXT: %[[R:.*]] = tensor.insert_slice %arg0 into %[[LAST]][1, 0] [4, 7] [1, 1]
// CHECK-NEXT: return %[[R]]
func.func @border(%a: tensor<4x7xf32>, %value: f32) -> tensor<6x8xf32> {
  %0 = tensor.pad %a low[1, 0] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %value : f32
  } : tensor<4x7xf32> to tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}

// The value may be a constant in the body; an empty source is not inserted.
// CHECK-LABEL: func.func @empty(
// CHECK: linalg.fill
// CHECK-NOT: linalg.fill
// CHECK-NOT: tensor.insert_slice %arg0
// CHECK: return
func.func @empty(%a: tensor<0x7xi8>) -> tensor<2x7xi8> {
  %0 = tensor.pad %a low[2, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    %one = arith.constant 1 : i8
    tensor.yield %one : i8
  } : tensor<0x7xi8> to tensor<2x7xi8>
  return %0 : tensor<2x7xi8>
}

// Padding by several values, or by dynamic sizes, is left alone.
// CHECK-LABEL: func.func @others(
// CHECK: tensor.pad
// CHECK: tensor.pad
func.func @others(%a: tensor<4xindex>, %low: index) -> (tensor<6xindex>, tensor<?xindex>) {
  %zero = arith.constant 0 : index
  %0 = tensor.pad %a low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<4xindex> to tensor<6xindex>
  %1 = tensor.pad %a low[%low] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : index
  } : tensor<4xindex> to tensor<?xindex>
  return %0, %1 : tensor<6xindex>, tensor<?xindex>
}
