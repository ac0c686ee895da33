func.func @main(%a: tensor<64x128xf8E4M3FN>, %b: tensor<128x32xf8E4M3FN>, %s: tensor<f32>,
                %x: tensor<8x8xf32>) -> (tensor<64x32xf8E5M2>, tensor<8x8xf32>) {
  %aw = stablehlo.convert %a : (tensor<64x128xf8E4M3FN>) -> tensor<64x128xbf16>
  // x.astype(bf16) * s.astype(bf16)
  %sb = stablehlo.convert %s : (tensor<f32>) -> tensor<bf16>
  %as = stablehlo.broadcast_in_dim %sb, dims = [] : (tensor<bf16>) -> tensor<64x128xbf16>
  %ad = stablehlo.multiply %aw, %as : tensor<64x128xbf16>
  %bw = stablehlo.convert %b : (tensor<128x32xf8E4M3FN>) -> tensor<128x32xbf16>

  %dot = stablehlo.dot_general %ad, %bw, contracting_dims = [1] x [0]
    : (tensor<64x128xbf16>, tensor<128x32xbf16>) -> tensor<64x32xbf16>
  %q = stablehlo.convert %dot : (tensor<64x32xbf16>) -> tensor<64x32xf8E5M2>
  %y = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
    : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %q, %y : tensor<64x32xf8E5M2>, tensor<8x8xf32>
}
