// An f8 dot with a bf16 result and its scale behind; one whose scale is converted; a bf16 dot; a
// product with a vector; an f32 dot. dots.hlo is what XLA:GPU made of it (jax 0.11.2, sm_90a) without
// Triton, and dots_triton.hlo with it.
func.func @main(%a: tensor<256x512xf8E4M3FN>, %b: tensor<128x512xf8E4M3FN>, %s: tensor<f32>, %x: tensor<256x512xbf16>, %w: tensor<512x128xbf16>, %v: tensor<512x1xbf16>, %y: tensor<256x512xf32>, %z: tensor<512x128xf32>, %t: tensor<f32>) -> (tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x1xbf16>, tensor<256x128xf32>) {
  %s16 = stablehlo.convert %s : (tensor<f32>) -> tensor<bf16>
  %s1 = stablehlo.broadcast_in_dim %s16, dims = [] : (tensor<bf16>) -> tensor<256x128xbf16>
  %d0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<256x512xf8E4M3FN>, tensor<128x512xf8E4M3FN>) -> tensor<256x128xbf16>
  %r0 = stablehlo.multiply %d0, %s1 : tensor<256x128xbf16>
  %t16 = stablehlo.convert %t : (tensor<f32>) -> tensor<bf16>
  %a16 = stablehlo.convert %a : (tensor<256x512xf8E4M3FN>) -> tensor<256x512xbf16>
  %s2 = stablehlo.broadcast_in_dim %t16, dims = [] : (tensor<bf16>) -> tensor<256x512xbf16>
  %as = stablehlo.multiply %a16, %s2 : tensor<256x512xbf16>
  %b16 = stablehlo.convert %b : (tensor<128x512xf8E4M3FN>) -> tensor<128x512xbf16>
  %r1 = stablehlo.dot_general %as, %b16, contracting_dims = [1] x [1] : (tensor<256x512xbf16>, tensor<128x512xbf16>) -> tensor<256x128xbf16>
  %r2 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x512xbf16>, tensor<512x128xbf16>) -> tensor<256x128xbf16>
  %r3 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<256x512xbf16>, tensor<512x1xbf16>) -> tensor<256x1xbf16>
  %r4 = stablehlo.dot_general %y, %z, contracting_dims = [1] x [0] : (tensor<256x512xf32>, tensor<512x128xf32>) -> tensor<256x128xf32>
  return %r0, %r1, %r2, %r3, %r4 : tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x128xbf16>, tensor<256x1xbf16>, tensor<256x128xf32>
}
