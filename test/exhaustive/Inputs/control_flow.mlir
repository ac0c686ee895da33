// Regions, calls, composites, tokens, tuples, dynamic shapes and custom calls.
module @control_flow {
  func.func @main(%n: tensor<i32>, %x: tensor<8x4xf32>, %k: tensor<8x4xf8E5M2>) -> (tensor<8x4xf32>, tensor<8xi32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %start = stablehlo.convert %k : (tensor<8x4xf8E5M2>) -> tensor<8x4xf32>
    %loop:2 = stablehlo.while(%i = %zero, %acc = %start) : tensor<i32>, tensor<8x4xf32>
    cond {
      %less = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %sum = stablehlo.composite "my.add" %acc, %x {composite_attributes = {scale = 2.0 : f32, list = [1, "two"]}, decomposition = @my_add, version = 1 : i32} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
      stablehlo.return %next, %sum : tensor<i32>, tensor<8x4xf32>
    }
    %positive = stablehlo.compare GT, %n, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %if = "stablehlo.if"(%positive) ({
      %tanh = stablehlo.tanh %loop#1 : tensor<8x4xf32>
      stablehlo.return %tanh : tensor<8x4xf32>
    }, {
      stablehlo.return %x : tensor<8x4xf32>
    }) : (tensor<i1>) -> tensor<8x4xf32>
    %case = "stablehlo.case"(%n) ({
      stablehlo.return %if : tensor<8x4xf32>
    }, {
      %inner = func.call @my_add(%if, %x) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
      stablehlo.return %inner : tensor<8x4xf32>
    }) : (tensor<i32>) -> tensor<8x4xf32>
    %init = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %rows = stablehlo.iota dim = 0 : tensor<8xi32>
    %max = stablehlo.reduce(%case init: %init) applies stablehlo.maximum across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
    %sorted:2 = "stablehlo.sort"(%max, %rows) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
      %before = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %before : tensor<i1>
    }) : (tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
    %call = stablehlo.custom_call @mine(%case) {api_version = 4 : i32, backend_config = {key = 1 : i64, text = "x"}, has_side_effect = true} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %tuple = stablehlo.tuple %call, %rows : tuple<tensor<8x4xf32>, tensor<8xi32>>
    %first = stablehlo.get_tuple_element %tuple[0] : (tuple<tensor<8x4xf32>, tensor<8xi32>>) -> tensor<8x4xf32>
    %token = stablehlo.create_token : !stablehlo.token
    %after = stablehlo.after_all %token, %token : !stablehlo.token
    %both:2 = stablehlo.optimization_barrier %first, %sorted#1 : tensor<8x4xf32>, tensor<8xi32>
    return %both#0, %both#1 : tensor<8x4xf32>, tensor<8xi32>
  }
  func.func private @my_add(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %sum = stablehlo.add %a, %b : tensor<8x4xf32> loc("sum")
    return %sum : tensor<8x4xf32>
  }
  func.func private @dynamic(%a: tensor<?x4xf32, #stablehlo.bounds<8, ?>>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
    %r = stablehlo.dynamic_reshape %a, %s : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>, tensor<2xi64>) -> tensor<?x?xf32>
    return %r : tensor<?x?xf32>
  }
}
