// One seed gives the same arguments, another gives others; every element type has its own.
// RUN: fp8-run %s --random 1 -o %t.1.npz
// RUN: fp8-run %s --random 1 --expect %t.1.npz --tolerance 0 | filecheck %s --match-full-lines
// RUN: not fp8-run %s --random 2 --expect %t.1.npz | filecheck %s --check-prefix=OTHER
// RUN: not fp8-run %s 2>&1 | filecheck %s --check-prefix=NONE --match-full-lines

// CHECK:      result  type{{ *}} rel L2 {{ *}}max abs  identical
// CHECK-NEXT: res0 {{ *}}tensor<8xf8E8M0FNU> {{ *}}0.00e+00   0.00e+00    100.00%  ok
// CHECK-NEXT: res1 {{ *}}tensor<2x4xbf16> {{ *}}0.00e+00   0.00e+00    100.00%  ok
// CHECK-NEXT: res2 {{ *}}tensor<f64> {{ *}}0.00e+00   0.00e+00    100.00%  ok
// CHECK-NEXT: res3 {{ *}}tensor<64xi1> {{ *}}0.00e+00   0.00e+00    100.00%  ok
// CHECK-NEXT: res4 {{ *}}tensor<2xcomplex<f64>> {{ *}}0.00e+00   0.00e+00    100.00%  ok
// CHECK-NEXT: res5 {{ *}}tensor<64xui16> {{ *}}0.00e+00   0.00e+00    100.00%  ok
// OTHER: res1 {{.*}} FAIL
// OTHER: first at [0, 0]: got {{[0-9.-]+}}, expected {{[0-9.-]+}}
// NONE: error: 'main' takes 6 arguments (tensor<8xf8E8M0FNU>, tensor<2x4xbf16>, tensor<f64>, tensor<64xi1>, tensor<2xcomplex<f64>>, tensor<64xui16>): give them with --args, or random ones with --random SEED
func.func @main(%a: tensor<8xf8E8M0FNU>, %b: tensor<2x4xbf16>, %c: tensor<f64>, %d: tensor<64xi1>, %e: tensor<2xcomplex<f64>>, %f: tensor<64xui16>) -> (tensor<8xf8E8M0FNU>, tensor<2x4xbf16>, tensor<f64>, tensor<64xi1>, tensor<2xcomplex<f64>>, tensor<64xui16>) {
  return %a, %b, %c, %d, %e, %f : tensor<8xf8E8M0FNU>, tensor<2x4xbf16>, tensor<f64>, tensor<64xi1>, tensor<2xcomplex<f64>>, tensor<64xui16>
}
