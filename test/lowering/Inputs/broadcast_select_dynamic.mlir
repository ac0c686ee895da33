func.func @main(%p: tensor<i1>, %a: tensor<?xf32>, %b: tensor<f32>) -> tensor<?xf32> {
  %0 = "chlo.broadcast_select"(%p, %a, %b) : (tensor<i1>, tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
