// RUN: fp8-opt %s --linalg-split-codes | filecheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// What a sum reads is stored as codes. What is no function of one code is not, nor what is read
// by others.

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>, %[[Y:.*]]: tensor<4x8xi8>)
// CHECK:         %[[CODES:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4x8xf32>) outs(%{{.*}} : tensor<4x8xi8>)
// CHECK:           arith.fptoui
// CHECK-NOT:       arith.uitofp
// CHECK:           linalg.yield %{{.*}} : i8
// CHECK:         %[[NUMBERS:.*]] = linalg.generic {{.*}} ins(%[[CODES]] : tensor<4x8xi8>) outs(%{{.*}} : tensor<4x8xf32>)
// CHECK-NOT:       arith.fptoui
// CHECK:           arith.uitofp
// CHECK:           arith.mulf
// CHECK:           linalg.yield %{{.*}} : f32
// CHECK:         linalg.generic {{.*}} ins(%[[NUMBERS]], %[[NUMBERS]]
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : tensor<4x8xf32>) outs(%{{.*}} : tensor<4x8xf32>)
// CHECK:           arith.uitofp
// CHECK:           arith.mulf %{{.*}}, %in
// CHECK:         linalg.generic {{.*}} ins(%[[Y]] : tensor<4x8xi8>) outs(%{{.*}} : tensor<4x8xf32>)
// CHECK-NOT:     tensor<4x8xi8>)
// CHECK:         return
func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xi8>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>) {
  %two = arith.constant 2.0 : f32
  %empty = tensor.empty() : tensor<4x8xf32>
  %sums = arith.constant dense<0.0> : tensor<4xf32>
  %a = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %code = arith.fptoui %in : f32 to i8
    %number = arith.uitofp %code : i8 to f32
    %scaled = arith.mulf %number, %two : f32
    linalg.yield %scaled : f32
  } -> tensor<4x8xf32>
  %b = linalg.generic {indexing_maps = [#all, #all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%sums : tensor<4xf32>) {
  ^bb0(%in: f32, %other: f32, %old: f32):
    %product = arith.mulf %in, %other : f32
    %sum = arith.addf %old, %product : f32
    linalg.yield %sum : f32
  } -> tensor<4xf32>
  %c = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %code = arith.fptoui %in : f32 to i8
    %number = arith.uitofp %code : i8 to f32
    %scaled = arith.mulf %number, %in : f32
    linalg.yield %scaled : f32
  } -> tensor<4x8xf32>
  %d = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<4x8xf32>) outs(%sums : tensor<4xf32>) {
  ^bb0(%in: f32, %old: f32):
    %sum = arith.addf %old, %in : f32
    linalg.yield %sum : f32
  } -> tensor<4xf32>
  %e = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<4x8xi8>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%in: i8, %old: f32):
    %number = arith.uitofp %in : i8 to f32
    linalg.yield %number : f32
  } -> tensor<4x8xf32>
  %f = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : tensor<4x8xf32>) outs(%sums : tensor<4xf32>) {
  ^bb0(%in: f32, %old: f32):
    %sum = arith.addf %old, %in : f32
    linalg.yield %sum : f32
  } -> tensor<4xf32>
  %g = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%in: f32, %old: f32):
    %code = arith.fptoui %in : f32 to i8
    %number = arith.uitofp %code : i8 to f32
    linalg.yield %number : f32
  } -> tensor<4x8xf32>
  return %b, %d, %f, %g : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>
}
