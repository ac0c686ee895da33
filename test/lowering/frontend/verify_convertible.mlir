// RUN: fp8-opt %s --verify-convertible --split-input-file --verify-diagnostics

func.func @main(%arg0: tensor<2xf8E4M3FN>) -> tensor<2xi8> {
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<2xf8E4M3FN>) -> tensor<2xi8>
  return %0 : tensor<2xi8>
}

// -----

func.func @main() -> tensor<5000000000xf32> {
  // expected-error @+1 {{'stablehlo.constant' of tensor<5000000000xf32> has too many elements: broadcast a smaller constant}}
  %0 = stablehlo.constant dense<1.0> : tensor<5000000000xf32>
  return %0 : tensor<5000000000xf32>
}

// -----

// expected-error @+1 {{'builtin.module' inside a module is not compiled: make its functions the outer module's}}
module @inner {
}
func.func @main() {
  return
}

// -----

func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{'func.call' of @main is recursion, which is not compiled: use a loop}}
  %0 = call @main(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = call @a(%arg0) : (tensor<f32>) -> tensor<f32>
  %1 = call @a(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @a(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = call @b(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @b(%arg0: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{'func.call' of @a is recursion, which is not compiled: use a loop}}
  %0 = call @a(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = call @a(%arg0) : (tensor<f32>) -> tensor<f32>
  %1 = call @b(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @a(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = call @b(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @b(%arg0: tensor<f32>) -> tensor<f32> {
  return %arg0 : tensor<f32>
}

// -----

func.func @main(%arg0: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  // expected-error @+1 {{'stablehlo.remainder' of complex numbers is not defined by the specification: divide, round both parts and subtract}}
  %0 = stablehlo.remainder %arg0, %arg0 : tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}

// -----

func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.composite "my.x" %arg0 {decomposition = @d} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @d(%arg0: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{'stablehlo.composite' of @d is recursion, which is not compiled: use a loop}}
  %0 = stablehlo.composite "my.x" %arg0 {decomposition = @d} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// A cycle of three, through a composite, a call and the body of a loop.
func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.composite "my.x" %arg0 {decomposition = @a} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @a(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = call @b(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @b(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.while(%x = %arg0) : tensor<f32>
  cond {
    %true = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %true : tensor<i1>
  } do {
    %1 = func.call @c(%x) : (tensor<f32>) -> tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}
func.func private @c(%arg0: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{'stablehlo.composite' of @a is recursion, which is not compiled: use a loop}}
  %0 = stablehlo.composite "my.y" %arg0 {decomposition = @a} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{'func.constant' of @main is recursion, which is not compiled: use a loop}}
  %f = constant @main : (tensor<f32>) -> tensor<f32>
  %0 = call_indirect %f(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// A decomposition that many composites share is no recursion.
func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.composite "my.x" %arg0 {decomposition = @d} : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.composite "my.x" %0 {decomposition = @d} : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @d(%arg0: tensor<f32>) -> tensor<f32> {
  return %arg0 : tensor<f32>
}

// -----

// expected-error @+1 {{'func.func' ends in llvm.return: let it end in func.return}}
func.func @main() {
  llvm.return
}
