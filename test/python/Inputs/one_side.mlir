// Device 0 leaves the other alone.
func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.replica_id : tensor<ui32>
  %1 = stablehlo.convert %0 : (tensor<ui32>) -> tensor<i1>
  %2 = "stablehlo.if"(%1) ({
    %3 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %4 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<3xf32>) -> tensor<3xf32>
    stablehlo.return %3 : tensor<3xf32>
  }, {
    stablehlo.return %a : tensor<3xf32>
  }) : (tensor<i1>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}
