module {
  func.func @main(%arg0: tensor<?x3x?x8xf32>) -> tensor<?x4x1x1xf32> {
    %c8_i64 = arith.constant 8 : i64
    %cst = stablehlo.constant dense_resource<torch_tensor_4_3_3_3_torch.float32> : tensor<4x3x3x3xf32>
    %cst_0 = stablehlo.constant dense_resource<torch_tensor_4_torch.float32> : tensor<4xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c2 = arith.constant 2 : index
    %0 = shape.const_shape [4, 1, 1] : tensor<3xindex>
    %c4 = arith.constant 4 : index
    %1 = stablehlo.convolution(%arg0, %cst) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x3x?x8xf32>, tensor<4x3x3x3xf32>) -> tensor<?x4x?x8xf32>
    %2 = stablehlo.reshape %cst_0 : (tensor<4xf32>) -> tensor<4x1x1xf32>
    %3 = shape.shape_of %1 : tensor<?x4x?x8xf32> -> tensor<4xindex>
    %4 = shape.broadcast %3, %0 : tensor<4xindex>, tensor<3xindex> -> tensor<4xindex>
    %5 = stablehlo.dynamic_broadcast_in_dim %1, %4, dims = [0, 1, 2, 3] : (tensor<?x4x?x8xf32>, tensor<4xindex>) -> tensor<?x4x?x8xf32>
    %6 = stablehlo.dynamic_broadcast_in_dim %2, %4, dims = [1, 2, 3] : (tensor<4x1x1xf32>, tensor<4xindex>) -> tensor<?x4x?x8xf32>
    %7 = stablehlo.add %5, %6 : tensor<?x4x?x8xf32>
    %8 = shape.shape_of %7 : tensor<?x4x?x8xf32> -> tensor<4xindex>
    %9 = stablehlo.dynamic_broadcast_in_dim %cst_1, %8, dims = [] : (tensor<f32>, tensor<4xindex>) -> tensor<?x4x?x8xf32>
    %10 = stablehlo.maximum %7, %9 : tensor<?x4x?x8xf32>
    %11 = stablehlo.reduce(%10 init: %cst_1) applies stablehlo.add across dimensions = [2, 3] : (tensor<?x4x?x8xf32>, tensor<f32>) -> tensor<?x4xf32>
    %dim = tensor.dim %10, %c0 : tensor<?x4x?x8xf32>
    %from_elements = tensor.from_elements %dim, %c4, %c1, %c1 : tensor<4xindex>
    %12 = stablehlo.dynamic_reshape %11, %from_elements : (tensor<?x4xf32>, tensor<4xindex>) -> tensor<?x4x1x1xf32>
    %dim_2 = tensor.dim %10, %c2 : tensor<?x4x?x8xf32>
    %13 = arith.index_cast %dim_2 : index to i64
    %14 = arith.muli %13, %c8_i64 : i64
    %from_elements_3 = tensor.from_elements %14 : tensor<1xi64>
    %15 = stablehlo.convert %from_elements_3 : (tensor<1xi64>) -> tensor<1xf32>
    %16 = stablehlo.reshape %15 : (tensor<1xf32>) -> tensor<f32>
    %17 = shape.shape_of %12 : tensor<?x4x1x1xf32> -> tensor<4xindex>
    %18 = stablehlo.dynamic_broadcast_in_dim %12, %17, dims = [0, 1, 2, 3] : (tensor<?x4x1x1xf32>, tensor<4xindex>) -> tensor<?x4x1x1xf32>
    %19 = stablehlo.dynamic_broadcast_in_dim %16, %17, dims = [] : (tensor<f32>, tensor<4xindex>) -> tensor<?x4x1x1xf32>
    %20 = stablehlo.divide %18, %19 : tensor<?x4x1x1xf32>
    return %20 : tensor<?x4x1x1xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_4_3_3_3_torch.float32: "0x04000000351109BD6D741C3E62E84F3BF49213BEFF3AD8BD46B4923D0D90AABDC8963D3D53F7413E82E1853D908C93BC8B08453D7C14E3BD779625BEF82214BE6B5C25BE00C5213DF88A193DF67EA7BD58C340BE9E81D53D2FA3DFBDCF9903BD1B3D25BE275BDEBD226BA43D499D37BEC5C0E0BD9EBF133E1122CABDD505A4BDBD535DBD517AA83D6E4501BED1129E3C89F7A03DD2E464BCF2880E3D625516BE8130B23D084D933D0BC0C5BC4FF322BE3EA59D3D7C98003E2AE009BDA1C5B93D3C17923D6FA49DBDB1E35ABC822B443ECF2C6E3AA3E31CBE4FF365BCA614C43DE9A780BD4A67CEBD5157223EE680D03D24EC05BDB016213C87BDA6BCAD02373D911EE03BAE81EEBD130C123DEFEFA43BF1DB4B3C7E3396BD59F9493DE75B1FBE41A26B3DA694D53D2581ADBC491519BE966437BA223B8F39D14E2ABEC9620BBED246363E2F5F133EAF6EDA3D6C85083E7BBA973DF9D0DD3DE385023EAF2538BD166AC8BCEF840C3E125991B8E63A00BE97CE18BE7B6EDC3D6A3C233ECF0B193E1E2F033D6708083E7DEF34BE18FB0DBE2DA03DBE94C61E3EB23FE4BA8E7CB5BD9F5D853DEB8993BD2AC7FCBDAE04983D1255103D",
      torch_tensor_4_torch.float32: "0x04000000EA1F0DBE42CD01BE9CCCB83DBCD8153E"
    }
  }
#-}
