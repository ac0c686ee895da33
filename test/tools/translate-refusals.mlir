// Every feature that is too new: what, since when, in how many ops, where the first is; newest first.
// RUN: not fp8-translate --serialize --target=1.0.0 %s -o %t.none 2>&1 | FileCheck %s --match-full-lines
// RUN: test ! -e %t.none
// RUN: not fp8-translate --serialize --target=1.8.0 %s 2>&1 | FileCheck %s --check-prefix=ONE --match-full-lines
// RUN: fp8-translate --serialize --target=1.10.0 %s | fp8-translate --deserialize | FileCheck %s --check-prefix=HELD
// An artifact from the future: its version, the one here, what to ask the producer for.
// RUN: fp8-translate --serialize --target=1.10.0 %s -o %t.bc
// RUN: %python -c "import sys; d = open(sys.argv[1], 'rb').read(); open(sys.argv[2], 'wb').write(d.replace(b'v1.10.0', b'v9.10.0').replace(b'tan_v', b'nat_v'))" %t.bc %t.future.bc
// RUN: not fp8-translate --deserialize %t.future.bc 2>&1 | FileCheck %s --check-prefix=FUTURE --match-full-lines
// RUN: not fp8-translate --inspect %t.future.bc 2>&1 | FileCheck %s --check-prefix=INSPECTED --match-full-lines
// What no version holds, in one line with op and place.
// RUN: echo 'func.func private @f(tensor<complex<i3>>)' > %t.complex.mlir
// RUN: not fp8-translate --serialize --target=auto %t.complex.mlir 2>&1 | FileCheck %s --check-prefix=COMPLEX --match-full-lines
// RUN: echo 'func.func private @f(tensor<2x!quant.uniform<f8E5M2:f32, 0.5>>)' > %t.quant.mlir
// RUN: not fp8-translate --serialize %t.quant.mlir 2>&1 | FileCheck %s --check-prefix=QUANT --match-full-lines
// RUN: echo 'func.func private @f() attributes {x = #stablehlo.brand_new<1>}' > %t.new.mlir
// RUN: not fp8-translate --serialize %t.new.mlir 2>&1 | FileCheck %s --check-prefix=NEW --match-full-lines

// CHECK: error: {{.*}}translate-refusals.mlir: StableHLO 1.0.0 cannot hold it: use target 1.10.0 or later
// CHECK-NEXT:   attribute result_accuracy of tan, since 1.10.0, in 1 op at {{.*}}translate-refusals.mlir:36:8
// CHECK-NEXT:   type f4E2M1FN, since 1.8.0, in 1 op at {{.*}}translate-refusals.mlir:34:1
// CHECK-NEXT:   type f8E3M4, since 1.7.0, in 4 ops, first at {{.*}}translate-refusals.mlir:34:1
// CHECK-NEXT:   op stablehlo.tan, since 1.4.0, in 2 ops, first at {{.*}}translate-refusals.mlir:35:8
// ONE: error: {{.*}}translate-refusals.mlir: StableHLO 1.8.0 cannot hold it: use target 1.10.0 or later
// ONE-NEXT:   attribute result_accuracy of tan, since 1.10.0, in 1 op at {{.*}}translate-refusals.mlir:36:8
// ONE-NOT: {{.+}}
// HELD: stablehlo.tan
// FUTURE: error: {{.*}}.future.bc: written for StableHLO 9.10.0, and {{.*}} is what is known here: ask its producer for --target={{.*}} (unregistered operation 'vhlo.nat_v2' found in dialect ('vhlo') that does not allow unknown operations, from {{.*}}translate-refusals.mlir:35:8)
// INSPECTED-DAG:   written for   StableHLO 9.10.0
// INSPECTED-DAG: error: {{.*}}.future.bc: written for StableHLO 9.10.0, {{.*}}
// COMPLEX: {{.*}}.complex.mlir:1:1: error: 'func.func' has the type complex<i3>, which no StableHLO version holds: use complex<f32>
// QUANT: {{.*}}.quant.mlir:1:1: error: 'func.func' has the type !quant.uniform<f8E5M2:f32, 5.000000e-01>, quantized with a storage type that is no integer: store i8, or use the float type itself
// NEW: {{.*}}.new.mlir:1:51: error: unknown StableHLO attribute{{.*}}
func.func @main(%a: tensor<2xf8E3M4>, %b: tensor<f4E2M1FN>) -> tensor<2xf8E3M4> {
  %0 = stablehlo.tan %a : tensor<2xf8E3M4>
  %1 = stablehlo.tan %0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2xf8E3M4>
  return %1 : tensor<2xf8E3M4>
}
