// How f8 is rounded to; by every judge in the same way.
// RUN: fp8-run %s --print | filecheck %s --check-prefix=NEAREST --match-full-lines
// RUN: fp8-run %s --print --rounding=toward-zero | filecheck %s --check-prefix=ZERO --match-full-lines
// RUN: fp8-run %s --print --rounding=toward-zero --saturate | filecheck %s --check-prefix=SATURATED --match-full-lines
// RUN: fp8-run %s --print --rounding=toward-zero --saturate --backend=interpreter | filecheck %s --check-prefix=SATURATED --match-full-lines
// RUN: fp8-run %s --print --rounding=stochastic --seed=5 > %t.5
// RUN: fp8-run %s --print --rounding=stochastic --seed=6 > %t.6
// RUN: not diff %t.5 %t.6
// RUN: fp8-run %s --print --rounding=stochastic --seed=5 --backend=interpreter | diff %t.5 -
// RUN: fp8-run %s --rounding=stochastic --seed=5 --compare=llvm,interpreter --tolerance=0 | filecheck %s --check-prefix=COMPARED
// RUN: fp8-run %s --saturate --compare=llvm,interpreter --tolerance=0 | filecheck %s --check-prefix=COMPARED
// RUN: not fp8-run %s --rounding=up 2>&1 | filecheck %s --check-prefix=MODE
// RUN: not fp8-run %s --report %t.html --rounding=toward-zero 2>&1 | filecheck %s --check-prefix=REPORT --match-full-lines

// NEAREST: {{\[ 1.125   -1.125    0.34375      nan      nan      nan\]}}
// ZERO: {{\[  1.      -1.       0.3125 448.          nan      nan\]}}
// SATURATED: {{\[  1.      -1.       0.3125 448.     448.          nan\]}}
// COMPARED: res0 {{.*}} 100.00% {{.*}}ok
// MODE: error: argument --rounding/-rounding: invalid choice: 'up' (choose from {{.*}}nearest-even{{.*}}
// REPORT: error: --report is of rounding to nearest: --rounding goes without it
func.func @main() -> tensor<6xf8E4M3FN> {
  %0 = stablehlo.constant dense<[1.1, -1.1, 0.34, 470.0, 0x7F800000, 0x7FC00000]> : tensor<6xf32>
  %1 = stablehlo.convert %0 : (tensor<6xf32>) -> tensor<6xf8E4M3FN>
  return %1 : tensor<6xf8E4M3FN>
}
