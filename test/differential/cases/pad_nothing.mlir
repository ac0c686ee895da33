// refused: offset 0 is out-of-bounds
// arg 0x
// arg 0x07000000
// result bits 0x07000000070000000700000007000000
func.func @main(%0: tensor<0x2xi32>, %1: tensor<i32>) -> tensor<1x4xi32> {
  %r = "stablehlo.pad"(%0, %1) <{edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0, 2>}> : (tensor<0x2xi32>, tensor<i32>) -> tensor<1x4xi32>
  return %r : tensor<1x4xi32>
}
