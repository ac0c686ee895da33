module {
  func.func public @main(%arg0: tensor<ROWSx512xf32>) -> (tensor<ROWSx520xf32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = call @_pad(%arg0, %c) : (tensor<ROWSx512xf32>, tensor<i32>) -> tensor<ROWSx520xf32>
    return %0 : tensor<ROWSx520xf32>
  }
  func.func private @_pad(%arg0: tensor<ROWSx512xf32>, %arg1: tensor<i32>) -> tensor<ROWSx520xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [0, 3], high = [0, 5], interior = [0, 0] : (tensor<ROWSx512xf32>, tensor<f32>) -> tensor<ROWSx520xf32>
    return %1 : tensor<ROWSx520xf32>
  }
}
