// RUN: fp8-opt %s --saturate-float-to-int | FileCheck %s

// CHECK-LABEL: func.func @signed(
// CHECK-NEXT: %0 = arith.fptosi %arg0 : f32 to i8
// CHECK: %[[ABOVE:.*]] = arith.constant 1.280000e+02 : f32
// CHECK: arith.cmpf oge, %arg0, %[[ABOVE]] : f32
// CHECK: %[[BELOW:.*]] = arith.constant -1.280000e+02 : f32
// CHECK: arith.cmpf ole, %arg0, %[[BELOW]] : f32
// CHECK: arith.cmpf uno, %arg0, %arg0 : f32
// CHECK: arith.constant 127 : i8
// CHECK: arith.select {{.*}}, %0 : i8
// CHECK: arith.constant -128 : i8
// CHECK: arith.constant 0 : i8
// CHECK: %[[RESULT:.*]] = arith.select
// CHECK: return %[[RESULT]] : i8
func.func @signed(%a: f32) -> i8 {
  %0 = arith.fptosi %a : f32 to i8
  return %0 : i8
}

// Above -1 numbers truncate to 0.
// CHECK-LABEL: func.func @unsigned_vector(
// CHECK-NEXT: arith.fptoui %arg0 : vector<4xf64> to vector<4xi32>
// CHECK: dense<0x41F0000000000000> : vector<4xf64>
// CHECK: dense<-1.000000e+00> : vector<4xf64>
// CHECK: dense<-1> : vector<4xi32>
func.func @unsigned_vector(%a: vector<4xf64>) -> vector<4xi32> {
  %0 = arith.fptoui %a : vector<4xf64> to vector<4xi32>
  return %0 : vector<4xi32>
}
