// RUN: fp8-opt %s --math-expand-in-f64 | filecheck %s

// A scalar: f64 arithmetic, no branch, no call, one rounding.
// CHECK-LABEL: func.func @exp(
// CHECK-SAME:      %[[X:.*]]: f32) -> f32
// CHECK-NOT:     math.exp
// CHECK-NOT:     call
// CHECK-NOT:     cf.
// CHECK:         arith.cmpf olt, %[[X]], %{{.*}} : f32
// CHECK:         %[[WIDE:.*]] = arith.extf %{{.*}} : f32 to f64
// CHECK:         arith.mulf %{{.*}}, %{{.*}} : f64
// CHECK:         %[[ROUNDED:.*]] = arith.truncf %{{.*}} : f64 to f32
// CHECK-NEXT:    return %[[ROUNDED]]
func.func @exp(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @vectors(
// CHECK:         arith.extf %{{.*}} : vector<4xf32> to vector<4xf64>
// CHECK:         arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<4xi1>, vector<4xf64>
// CHECK:         arith.truncf %{{.*}} : vector<4xf64> to vector<4xf32>
func.func @vectors(%x: vector<4xf32>, %y: vector<4xf32>) -> vector<4xf32> {
  %0 = math.powf %x, %y : vector<4xf32>
  return %0 : vector<4xf32>
}

// f16 rounds through f32, for which every target has an instruction.
// CHECK-LABEL: func.func @halves(
// CHECK:         arith.extf %{{.*}} : f16 to f32
// CHECK:         %[[SINGLE:.*]] = arith.truncf %{{.*}} : f64 to f32
// CHECK-NEXT:    arith.truncf %[[SINGLE]] : f32 to f16
func.func @halves(%x: f16) -> f16 {
  %0 = math.tanh %x : f16
  return %0 : f16
}

// f64 stays, unless it has `afn` and an approximation for every f64.
// CHECK-LABEL: func.func @doubles(
// CHECK:         math.log %{{.*}} : f64
// CHECK-NOT:     math.log
// CHECK:         math.sin %{{.*}} fastmath<afn> : f64
// CHECK:         return
func.func @doubles(%x: f64) -> (f64, f64, f64) {
  %0 = math.log %x : f64
  %1 = math.log %x fastmath<contract,afn> : f64
  %2 = math.sin %x fastmath<afn> : f64
  return %0, %1, %2 : f64, f64, f64
}

// f64 whose only use is a truncation to f32 is expanded as f32 is, without the final rounding.
// CHECK-LABEL: func.func @to_f32(
// CHECK-SAME:      %[[X:.*]]: f32)
// CHECK:         arith.cmpf olt, %[[X]], %{{.*}} : f32
// CHECK-NOT:     math.exp
// CHECK-NOT:     arith.truncf
// CHECK:         return
func.func @to_f32(%x: f32) -> f64 {
  %0 = arith.extf %x : f32 to f64
  %1 = math.exp %0 {mlir_fp8.to_f32} : f64
  return %1 : f64
}

// Payne-Hanek range reduction by a table with a factor per exponent: scalars and vectors.
// CHECK-LABEL: func.func @turns(
// CHECK-SAME:      %[[X:.*]]: f32, %[[Y:.*]]: vector<16xf32>)
// CHECK:         %[[UPPER:.*]] = memref.get_global @mlir_fp8.two_over_pi_upper : memref<130xf64>
// CHECK-NEXT:    %[[AT:.*]] = arith.index_castui
// CHECK-NEXT:    memref.load %[[UPPER]][%[[AT]]] : memref<130xf64>
// CHECK:         vector.gather %{{.*}} : memref<130xf64>, vector<16xi32>, vector<16xi1>, vector<16xf64> into vector<16xf64>
// CHECK:         return
func.func @turns(%x: f32, %y: vector<16xf32>) -> (f32, vector<16xf32>) {
  %0 = math.sin %x : f32
  %1 = math.cos %y : vector<16xf32>
  return %0, %1 : f32, vector<16xf32>
}

// Every function is expanded on scalars.
// CHECK-LABEL: func.func @all(
// CHECK-NOT:     math.{{(a(cos|cosh|sin|sinh|tan|tan2|tanh)|cbrt|cosh?|erfc?|exp(2|m1)?|log(10|1p|2)?|powf|rsqrt|sinh?|tanh?)}} %
// CHECK:         return
func.func @all(%x: f32) -> f32 {
  %acos = math.acos %x : f32
  %acosh = math.acosh %acos : f32
  %asin = math.asin %acosh : f32
  %asinh = math.asinh %asin : f32
  %atan = math.atan %asinh : f32
  %atan2 = math.atan2 %atan, %x : f32
  %atanh = math.atanh %atan2 : f32
  %cbrt = math.cbrt %atanh : f32
  %cos = math.cos %cbrt : f32
  %cosh = math.cosh %cos : f32
  %erf = math.erf %cosh : f32
  %erfc = math.erfc %erf : f32
  %exp = math.exp %erfc : f32
  %exp2 = math.exp2 %exp : f32
  %expm1 = math.expm1 %exp2 : f32
  %log = math.log %expm1 : f32
  %log10 = math.log10 %log : f32
  %log1p = math.log1p %log10 : f32
  %log2 = math.log2 %log1p : f32
  %powf = math.powf %log2, %x : f32
  %rsqrt = math.rsqrt %powf : f32
  %sin = math.sin %rsqrt : f32
  %sinh = math.sinh %sin : f32
  %tan = math.tan %sinh : f32
  %tanh = math.tanh %tan : f32
  return %tanh : f32
}
