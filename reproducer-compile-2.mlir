
func.func @main(%x0: tensor<32x64xf32>, %bias: tensor<128xf32>, %v0: tensor<64x128xf32>, %u0: tensor<128x64xf32>, %v1: tensor<64x128xf32>, %u1: tensor<128x64xf32>)
    -> (tensor<32x64xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %part = stablehlo.constant dense<0.015625> : tensor<32x64xf32>
  %nought = stablehlo.constant dense<0> : tensor<i32>
  
  %m0 = stablehlo.reduce(%x0 init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
  %n0 = stablehlo.broadcast_in_dim %m0, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>
  %o0 = stablehlo.multiply %n0, %part : tensor<32x64xf32>
  %c0 = stablehlo.subtract %x0, %o0 : tensor<32x64xf32>
  %t0 = stablehlo.transpose %c0, dims = [1, 0] : (tensor<32x64xf32>) -> tensor<64x32xf32>
  %s0 = stablehlo.dot_general %c0, %t0, contracting_dims = [1] x [0]
    : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %w0 = stablehlo.cosine %s0 : tensor<32x32xf32>
  %y0 = stablehlo.abs %w0 : tensor<32x32xf32>
  %e0 = stablehlo.exponential %y0 : tensor<32x32xf32>
  %d0 = stablehlo.reduce(%e0 init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<32x32xf32>, tensor<f32>) -> tensor<32xf32>
  %f0 = stablehlo.broadcast_in_dim %d0, dims = [0] : (tensor<32xf32>) -> tensor<32x32xf32>
  %p0 = stablehlo.divide %e0, %f0 : tensor<32x32xf32>
  %a0 = stablehlo.dot_general %p0, %c0, contracting_dims = [1] x [0]
    : (tensor<32x32xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  
  %h0 = stablehlo.dot_general %a0, %v0, contracting_dims = [1] x [0]
    : (tensor<32x64xf32>, tensor<64x128xf32>) -> tensor<32x128xf32>
  %b0 = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<128xf32>) -> tensor<32x128xf32>
  %g0 = stablehlo.add %h0, %b0 : tensor<32x128xf32>
  %k0 = stablehlo.tanh %g0 : tensor<32x128xf32>
  %l0 = stablehlo.dot_general %k0, %u0, contracting_dims = [1] x [0]
    : (tensor<32x128xf32>, tensor<128x64xf32>) -> tensor<32x64xf32>
  
  %x1 = stablehlo.add %l0, %x0 : tensor<32x64xf32>

  %m1 = stablehlo.reduce(%x1 init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
  %n1 = stablehlo.broadcast_in_dim %m1, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>
  %o1 = stablehlo.multiply %n1, %part : tensor<32x64xf32>
  %c1 = stablehlo.subtract %x1, %o1 : tensor<32x64xf32>
  %t1 = stablehlo.transpose %c1, dims = [1, 0] : (tensor<32x64xf32>) -> tensor<64x32xf32>
  %s1 = stablehlo.dot_general %c1, %t1, contracting_dims = [1] x [0]
    : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %w1 = stablehlo.cosine %s1 : tensor<32x32xf32>
  %y1 = stablehlo.abs %w1 : tensor<32x32xf32>
  %e1 = stablehlo.exponential %y1 : tensor<32x32xf32>
  %d1 = stablehlo.reduce(%e1 init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<32x32xf32>, tensor<f32>) -> tensor<32xf32>
  %f1 = stablehlo.broadcast_in_dim %d1, dims = [0] : (tensor<32xf32>) -> tensor<32x32xf32>
  %p1 = stablehlo.divide %e1, %f1 : tensor<32x32xf32>
  %a1 = stablehlo.dot_general %p1, %c1, contracting_dims = [1] x [0]
    : (tensor<32x32xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  
  %h1 = stablehlo.dot_general %a1, %v1, contracting_dims = [1] x [0]
    : (tensor<32x64xf32>, tensor<64x128xf32>) -> tensor<32x128xf32>
  %b1 = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<128xf32>) -> tensor<32x128xf32>
  %g1 = stablehlo.add %h1, %b1 : tensor<32x128xf32>
  %k1 = stablehlo.tanh %g1 : tensor<32x128xf32>
  %l1 = stablehlo.dot_general %k1, %u1, contracting_dims = [1] x [0]
    : (tensor<32x128xf32>, tensor<128x64xf32>) -> tensor<32x64xf32>
  
  %x2 = stablehlo.add %l1, %x1 : tensor<32x64xf32>

  return %x2 : tensor<32x64xf32>
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module()",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
