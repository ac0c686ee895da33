// RUN: fp8-opt %s --accumulate-in-f32 --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: func.func @dot(
// CHECK-NEXT:    %[[A:.*]] = stablehlo.convert %{{.*}} : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf32>
// CHECK-NEXT:    %[[B:.*]] = stablehlo.convert %{{.*}} : (tensor<8x2xf8E5M2>) -> tensor<8x2xf32>
// CHECK-NEXT:    %[[SUM:.*]] = stablehlo.dot_general %[[A]], %[[B]], contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
// CHECK-NEXT:    %[[ROUNDED:.*]] = stablehlo.convert %[[SUM]] : (tensor<4x2xf32>) -> tensor<4x2xbf16>
// CHECK-NEXT:    return %[[ROUNDED]]
func.func @dot(%a: tensor<4x8xf8E4M3FN>, %b: tensor<8x2xf8E5M2>) -> tensor<4x2xbf16> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT] : (tensor<4x8xf8E4M3FN>, tensor<8x2xf8E5M2>) -> tensor<4x2xbf16>
  return %0 : tensor<4x2xbf16>
}

// -----

// CHECK-LABEL: func.func @wide_stays(
// CHECK-NEXT:    %[[DOT:.*]] = stablehlo.dot_general %{{.*}}, %{{.*}}, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    stablehlo.reduce(%[[DOT]] init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:    return
func.func @wide_stays(%a: tensor<4x4xf32>, %i: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.reduce(%0 init: %i) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// The lowering of grouped convolutions takes operands of the result's type only.

// CHECK-LABEL: func.func @convolution(
// CHECK-NEXT:    stablehlo.convert %{{.*}} : (tensor<1x6x6x4xf8E4M3FN>) -> tensor<1x6x6x4xf32>
// CHECK-NEXT:    stablehlo.convert %{{.*}} : (tensor<3x3x1x4xf8E4M3FN>) -> tensor<3x3x1x4xf32>
// CHECK-NEXT:    stablehlo.convolution{{.*}} feature_group_count = 4 : i64{{.*}} : (tensor<1x6x6x4xf32>, tensor<3x3x1x4xf32>) -> tensor<1x4x4x4xf32>
// CHECK-NEXT:    return
func.func @convolution(%a: tensor<1x6x6x4xf8E4M3FN>, %b: tensor<3x3x1x4xf8E4M3FN>) -> tensor<1x4x4x4xf32> {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<1x6x6x4xf8E4M3FN>, tensor<3x3x1x4xf8E4M3FN>) -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}

// -----

// CHECK-LABEL: func.func @sum(
// CHECK-NEXT:    %[[A:.*]] = stablehlo.convert %{{.*}} : (tensor<4x8xbf16>) -> tensor<4x8xf32>
// CHECK-NEXT:    %[[I:.*]] = stablehlo.convert %{{.*}} : (tensor<bf16>) -> tensor<f32>
// CHECK-NEXT:    %[[SUM:.*]] = stablehlo.reduce(%[[A]] init: %[[I]]) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:    stablehlo.convert %[[SUM]] : (tensor<4xf32>) -> tensor<4xbf16>
func.func @sum(%a: tensor<4x8xbf16>, %i: tensor<bf16>) -> tensor<4xbf16> {
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [1] : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

// Constants and values from outside widen exactly; a rounding to another type stays.

// CHECK-LABEL: func.func @body(
// CHECK:         reducer(%[[X:.*]]: tensor<f32>, %[[Y:.*]]: tensor<f32>)
// CHECK-NEXT:      %[[C:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
// CHECK-NEXT:      %[[C32:.*]] = stablehlo.convert %[[C]] : (tensor<bf16>) -> tensor<f32>
// CHECK-NEXT:      %[[HALF:.*]] = stablehlo.multiply %[[Y]], %[[C32]] : tensor<f32>
// CHECK-NEXT:      %[[S32:.*]] = stablehlo.convert %{{.*}} : (tensor<bf16>) -> tensor<f32>
// CHECK-NEXT:      %[[SCALED:.*]] = stablehlo.multiply %[[HALF]], %[[S32]] : tensor<f32>
// CHECK-NEXT:      %[[F8:.*]] = stablehlo.convert %[[SCALED]] : (tensor<f32>) -> tensor<f8E5M2>
// CHECK-NEXT:      %[[BACK:.*]] = stablehlo.convert %[[F8]] : (tensor<f8E5M2>) -> tensor<f32>
// CHECK-NEXT:      %[[SUM:.*]] = stablehlo.add %[[X]], %[[BACK]] : tensor<f32>
// CHECK-NEXT:      stablehlo.return %[[SUM]] : tensor<f32>
func.func @body(%a: tensor<4x8xbf16>, %i: tensor<bf16>, %s: tensor<bf16>) -> tensor<4xbf16> {
  %0 = stablehlo.reduce(%a init: %i) across dimensions = [1] : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<4xbf16>
   reducer(%x: tensor<bf16>, %y: tensor<bf16>) {
    %c = stablehlo.constant dense<0.5> : tensor<bf16>
    %1 = stablehlo.multiply %y, %c : tensor<bf16>
    %2 = stablehlo.multiply %1, %s : tensor<bf16>
    %3 = stablehlo.convert %2 : (tensor<bf16>) -> tensor<f8E5M2>
    %4 = stablehlo.convert %3 : (tensor<f8E5M2>) -> tensor<bf16>
    %5 = stablehlo.add %x, %4 : tensor<bf16>
    stablehlo.return %5 : tensor<bf16>
  }
  return %0 : tensor<4xbf16>
}

// -----

// CHECK-LABEL: func.func @argmax(
// CHECK:         stablehlo.reduce({{.*}}) across dimensions = [0] : (tensor<8xf32>, tensor<8xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
// CHECK-NEXT:    reducer(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>) (%{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>)
// CHECK:         stablehlo.convert %{{.*}}#0 : (tensor<f32>) -> tensor<f8E4M3FN>
func.func @argmax(%a: tensor<8xf8E4M3FN>, %b: tensor<8xi32>, %i: tensor<f8E4M3FN>, %j: tensor<i32>) -> (tensor<f8E4M3FN>, tensor<i32>) {
  %0:2 = stablehlo.reduce(%a init: %i), (%b init: %j) across dimensions = [0] : (tensor<8xf8E4M3FN>, tensor<8xi32>, tensor<f8E4M3FN>, tensor<i32>) -> (tensor<f8E4M3FN>, tensor<i32>)
   reducer(%x: tensor<f8E4M3FN>, %y: tensor<f8E4M3FN>) (%p: tensor<i32>, %q: tensor<i32>) {
    %1 = stablehlo.compare GE, %x, %y : (tensor<f8E4M3FN>, tensor<f8E4M3FN>) -> tensor<i1>
    %2 = stablehlo.select %1, %x, %y : tensor<i1>, tensor<f8E4M3FN>
    %3 = stablehlo.select %1, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %2, %3 : tensor<f8E4M3FN>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<f8E4M3FN>, tensor<i32>
}

// -----

// CHECK-LABEL: func.func @promoting(
// CHECK-NEXT:    stablehlo.convert %{{.*}} : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf32>
// CHECK-NEXT:    stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:    return
func.func @promoting(%a: tensor<4x8xf8E4M3FN>, %i: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.reduce(%a init: %i) across dimensions = [1] : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4xf32>
   reducer(%x: tensor<f32>, %y: tensor<f32>) {
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @scatter_rounds_each_update(
// CHECK:         stablehlo.add %{{.*}}, %{{.*}} : tensor<bf16>
func.func @scatter_rounds_each_update(%a: tensor<8xbf16>, %i: tensor<2x1xi32>, %u: tensor<2xbf16>) -> tensor<8xbf16> {
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<bf16>, %y: tensor<bf16>):
    %1 = stablehlo.add %x, %y : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }) : (tensor<8xbf16>, tensor<2x1xi32>, tensor<2xbf16>) -> tensor<8xbf16>
  return %0 : tensor<8xbf16>
}

// -----

// CHECK-LABEL: func.func @algorithm(
// CHECK-NEXT:    %[[ROUNDED:.*]] = stablehlo.convert %{{.*}} {mlir_fp8.algorithm_rounding} : (tensor<4x8xf32>) -> tensor<4x8xbf16>
// CHECK-NEXT:    %[[A:.*]] = stablehlo.convert %[[ROUNDED]] : (tensor<4x8xbf16>) -> tensor<4x8xf32>
// CHECK-NEXT:    %[[B:.*]] = stablehlo.convert %{{.*}} : (tensor<8x2xf8E5M2>) -> tensor<8x2xf32>
// CHECK-NEXT:    %[[SUM:.*]] = stablehlo.dot_general %[[A]], %[[B]], contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
// CHECK-NEXT:    stablehlo.convert %[[SUM]] : (tensor<4x2xf32>) -> tensor<4x2xbf16>
func.func @algorithm(%a: tensor<4x8xf32>, %b: tensor<8x2xf8E5M2>) -> tensor<4x2xbf16> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x8xf32>, tensor<8x2xf8E5M2>) -> tensor<4x2xbf16>
  return %0 : tensor<4x2xbf16>
}

// -----

// Three products of two pieces each: the leading ones, and before them their sum with the others.

// CHECK-LABEL: func.func @three_products(
// CHECK:         %[[MASK:.*]] = stablehlo.constant dense<-65536> : tensor<4x4xi32>
// CHECK-NEXT:    %[[BITS:.*]] = stablehlo.bitcast_convert %arg0 : (tensor<4x4xf32>) -> tensor<4x4xi32>
// CHECK-NEXT:    %[[CUT:.*]] = stablehlo.and %[[BITS]], %[[MASK]] : tensor<4x4xi32>
// CHECK-NEXT:    %[[HEAD:.*]] = stablehlo.bitcast_convert %[[CUT]] : (tensor<4x4xi32>) -> tensor<4x4xf32>
// CHECK-NEXT:    %[[A0:.*]] = stablehlo.select %{{.*}}, %[[HEAD]], %arg0
// CHECK-NEXT:    %[[REST:.*]] = stablehlo.subtract %arg0, %[[HEAD]]
// CHECK:         %[[A1:.*]] = stablehlo.select
// CHECK:         %[[B0:.*]] = stablehlo.select
// CHECK:         %[[B1:.*]] = stablehlo.select
// CHECK:         %[[LEADING:.*]] = stablehlo.dot_general %[[A0]], %[[B0]], contracting_dims = [1] x [0] :
// CHECK-NEXT:    %[[D0:.*]] = stablehlo.dot_general %[[A0]], %[[B1]], contracting_dims = [1] x [0] :
// CHECK-NEXT:    %[[D1:.*]] = stablehlo.dot_general %[[A1]], %[[B0]], contracting_dims = [1] x [0] :
// CHECK-NEXT:    %[[SUM:.*]] = stablehlo.add %[[D0]], %[[D1]]
// CHECK-NEXT:    %[[IS_NUMBER:.*]] = stablehlo.compare EQ, %[[SUM]], %[[SUM]]
// CHECK-NEXT:    %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<4x4xf32>
// CHECK-NEXT:    %[[KEPT:.*]] = stablehlo.select %[[IS_NUMBER]], %[[SUM]], %[[ZERO]]
// CHECK-NEXT:    %[[TOTAL:.*]] = stablehlo.add %[[LEADING]], %[[KEPT]]
// CHECK-NEXT:    stablehlo.convert %[[TOTAL]] : (tensor<4x4xf32>) -> tensor<4x4xbf16>
func.func @three_products(%a: tensor<4x4xf32>) -> tensor<4x4xbf16> {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xbf16>
  return %0 : tensor<4x4xbf16>
}

// -----

// CHECK-LABEL: func.func @ragged(
// CHECK-NEXT:    stablehlo.convert %arg0 : (tensor<4x3xbf16>) -> tensor<4x3xf32>
// CHECK-NEXT:    stablehlo.convert %arg1 : (tensor<2x3x5xbf16>) -> tensor<2x3x5xf32>
// CHECK-NEXT:    %[[DOT:.*]] = "chlo.ragged_dot"({{.*}}) {{.*}} : (tensor<4x3xf32>, tensor<2x3x5xf32>, tensor<2xi64>) -> tensor<4x5xf32>
// CHECK-NEXT:    stablehlo.convert %[[DOT]] : (tensor<4x5xf32>) -> tensor<4x5xbf16>
func.func @ragged(%a: tensor<4x3xbf16>, %b: tensor<2x3x5xbf16>, %g: tensor<2xi64>) -> tensor<4x5xbf16> {
  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<4x3xbf16>, tensor<2x3x5xbf16>, tensor<2xi64>) -> tensor<4x5xbf16>
  return %0 : tensor<4x5xbf16>
}

// -----

// f64 is added in f64, also where the result is f32.

// CHECK-LABEL: func.func @of_f64(
// CHECK-NEXT:    %[[DOT:.*]] = stablehlo.dot_general {{.*}} : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
// CHECK-NEXT:    stablehlo.convert %[[DOT]] : (tensor<4x4xf64>) -> tensor<4x4xf32>
func.func @of_f64(%a: tensor<4x4xf64>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @of_complex(%a: tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32> {
  // expected-error@+1 {{of complex numbers gives f32: give it a complex result}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @sum_in_f16(%a: tensor<4x4xf16>) -> tensor<4x4xf16> {
  // expected-error@+1 {{has an algorithm that accumulates in f16; give one that does in f32}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f16, rhs_precision_type = f16, accumulation_type = f16, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  return %0 : tensor<4x4xf16>
}

// -----

func.func @body_of_codes(%a: tensor<4x8xbf16>, %i: tensor<bf16>) -> tensor<4xbf16> {
  %0 = stablehlo.reduce(%a init: %i) across dimensions = [1] : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<4xbf16>
   reducer(%x: tensor<bf16>, %y: tensor<bf16>) {
    // expected-error@+1 {{in the body of stablehlo.reduce fixes the type bf16, but the reduction accumulates in f32; reduce in f32 explicitly}}
    %1 = stablehlo.bitcast_convert %x : (tensor<bf16>) -> tensor<i16>
    %2 = stablehlo.bitcast_convert %1 : (tensor<i16>) -> tensor<bf16>
    stablehlo.return %2 : tensor<bf16>
  }
  return %0 : tensor<4xbf16>
}

// -----

func.func @body_gives_nan(%a: tensor<4x8xf6E3M2FN>, %i: tensor<f6E3M2FN>) -> tensor<4xf6E3M2FN> {
  %0 = stablehlo.reduce(%a init: %i) across dimensions = [1] : (tensor<4x8xf6E3M2FN>, tensor<f6E3M2FN>) -> tensor<4xf6E3M2FN>
   reducer(%x: tensor<f6E3M2FN>, %y: tensor<f6E3M2FN>) {
    // expected-error@+1 {{can give NaN, which f6E3M2FN has no code for; convert to f32 before it and back after}}
    %1 = stablehlo.divide %x, %y : tensor<f6E3M2FN>
    stablehlo.return %1 : tensor<f6E3M2FN>
  }
  return %0 : tensor<4xf6E3M2FN>
}

// -----

func.func @body_without_sign(%a: tensor<4x8xf8E8M0FNU>, %i: tensor<f8E8M0FNU>) -> tensor<4xf8E8M0FNU> {
  %0 = stablehlo.reduce(%a init: %i) across dimensions = [1] : (tensor<4x8xf8E8M0FNU>, tensor<f8E8M0FNU>) -> tensor<4xf8E8M0FNU>
   reducer(%x: tensor<f8E8M0FNU>, %y: tensor<f8E8M0FNU>) {
    // expected-error@+1 {{is not possible on f8E8M0FNU, which has no sign; convert first}}
    %1 = stablehlo.negate %y : tensor<f8E8M0FNU>
    %2 = stablehlo.add %x, %1 : tensor<f8E8M0FNU>
    stablehlo.return %2 : tensor<f8E8M0FNU>
  }
  return %0 : tensor<4xf8E8M0FNU>
}
