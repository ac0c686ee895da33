// RUN: fp8-opt %s --fp8-quantize-ops='recipe=current ops=stablehlo.add,stablehlo.tanh,stablehlo.reduce' --split-input-file | FileCheck %s
// RUN: fp8-opt %s --fp8-quantize-ops='recipe=transformer_engine history=2 algorithm=most_recent margin=1' --split-input-file | FileCheck %s --check-prefix=ALL
// RUN: fp8-opt %s --fp8-quantize-ops=remarks --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// An operand is quantized once, where it comes from, and read as what it then stands for; a result is
// quantized once, and read so by all.
// CHECK-LABEL: func.func @main(
// CHECK: %[[B:.*]] = "fp8.quantize"(%arg1, %[[SB:.*]]#0) {saturate} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf8E4M3FN>
// CHECK: %[[MOVED:.*]] = stablehlo.broadcast_in_dim %[[B]], dims = [1]
// CHECK: %[[WIDE:.*]] = "fp8.dequantize"(%[[MOVED]], %[[SB]]#0)
// CHECK: %[[SUM:.*]] = stablehlo.add %{{.*}}, %[[WIDE]] : tensor<4x8xf32>
// CHECK: stablehlo.abs %[[SUM]]
// CHECK: %[[SS:.*]]:2 = "fp8.update_scale"({{.*}} recipe = "current"
// CHECK: %[[Q:.*]] = "fp8.quantize"(%[[SUM]], %[[SS]]#0)
// CHECK: %[[X:.*]] = "fp8.dequantize"(%[[Q]], %[[SS]]#0)
// CHECK: %[[TANH:.*]] = stablehlo.tanh %[[X]]
// CHECK: "fp8.quantize"(%[[TANH]]
// CHECK: stablehlo.transpose %{{.*}} : (tensor<4x8xf8E4M3FN>) -> tensor<8x4xf8E4M3FN>
// What a reduction starts with stays, and so do its body and its constants.
// CHECK: stablehlo.reduce(%{{.*}} init: %cst{{.*}}) applies stablehlo.add across dimensions = [0]
// CHECK: %[[R:.*]] = "fp8.dequantize"({{.*}} -> tensor<4xf32>
// CHECK: return %{{.*}}, %[[R]] : tensor<8x4xf32>, tensor<4xf32>

// REMARK: :33:8: remark: 'stablehlo.add' {{.*}} in scaled FP8: (op0.operand0, op0.operand1) -> (op0.result0)
// REMARK-NEXT: remark: 'stablehlo.tanh' {{.*}} in scaled FP8: (op0.result0) -> (op1.result0)
// REMARK-NEXT: remark: 'stablehlo.multiply' {{.*}} in scaled FP8: (op1.result0, wide) -> (op2.result0)
// REMARK-NEXT: remark: 'stablehlo.reduce' {{.*}} in scaled FP8: (op2.result0, wide) -> (op3.result0)
// TransformerEngine: the scale of the step before is used, the new one is for the next.
// ALL: "fp8.update_scale"(%arg2, %arg3, {{.*}}) {algorithm = "most_recent", format = f8E4M3FN, margin = 1.000000e+00 : f32, recipe = "transformer_engine"}
// ALL: "fp8.quantize"(%arg0, %arg2)
func.func @main(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> (tensor<8x4xf32>, tensor<4xf32>) {
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.add %a, %0 : tensor<4x8xf32>
  %2 = stablehlo.tanh %1 : tensor<4x8xf32>
  %two = stablehlo.constant dense<2.0> : tensor<4x8xf32>
  %5 = stablehlo.multiply %2, %two : tensor<4x8xf32>
  %3 = stablehlo.transpose %5, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %3, %4 : tensor<8x4xf32>, tensor<4xf32>
}

// -----

// Integers, f64 and what is marked stay; bf16 is read as bf16.
// CHECK-LABEL: func.func @main(
// CHECK: %[[X:.*]] = "fp8.dequantize"({{.*}} -> tensor<2xbf16>
// CHECK: stablehlo.add %arg0, %arg0 : tensor<2xi32>
// CHECK: stablehlo.add %arg1, %arg1 : tensor<2xf64>
// CHECK: stablehlo.add %arg2, %arg2 {mlir_fp8.skip} : tensor<2xbf16>
// CHECK: %[[Y:.*]] = stablehlo.tanh %[[X]]
// CHECK: stablehlo.convert %[[Y]] : (tensor<2xbf16>) -> tensor<2xf32>
// CHECK: "fp8.dequantize"({{.*}} -> tensor<2xbf16>
// REMARK-NEXT: 'stablehlo.add' (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32> is left as it is: it computes on nothing of f32, bf16 or f16 with a static shape but constants
// REMARK-NEXT: 'stablehlo.add' (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64> is left as it is
// REMARK-NEXT: remark: 'stablehlo.add' (tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xbf16> is left as it is: it has mlir_fp8.skip
func.func @main(%i: tensor<2xi32>, %d: tensor<2xf64>, %x: tensor<2xbf16>) -> (tensor<2xi32>, tensor<2xf64>, tensor<2xbf16>, tensor<2xbf16>) {
  %0 = stablehlo.add %i, %i : tensor<2xi32>
  %1 = stablehlo.add %d, %d : tensor<2xf64>
  %2 = stablehlo.add %x, %x {mlir_fp8.skip} : tensor<2xbf16>
  %3 = stablehlo.tanh %x : tensor<2xbf16>
  return %0, %1, %2, %3 : tensor<2xi32>, tensor<2xf64>, tensor<2xbf16>, tensor<2xbf16>
}
