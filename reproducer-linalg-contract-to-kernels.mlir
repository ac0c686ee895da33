#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> ()>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map5 = affine_map<(d0, d1) -> (d1)>
#map6 = affine_map<() -> ()>
#map7 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map8 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map9 = affine_map<(d0, d1, d2) -> ()>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map13 = affine_map<(d0, d1, d2) -> (d2)>
"builtin.module"() ({
  "func.func"() <{function_type = (memref<150x600xi8>, memref<600x300xi8>, memref<f32>, memref<300xf32>, memref<150x300xf32>, memref<f32>, memref<40x90xi8>, memref<90x700xi8>, memref<f32>, memref<700xf32>, memref<40x700xf32>, memref<f32>, memref<3x900xi8>, memref<1111x900xi8>, memref<f32>, memref<1111xf32>, memref<3x1111xf32>, memref<f32>, memref<2x400xi8>, memref<400x3000xi8>, memref<f32>, memref<3000xf32>, memref<2x3000xf32>, memref<f32>, memref<20x50x70xi8>, memref<20x90x70xi8>, memref<f32>, memref<90xf32>, memref<20x50x90xf32>, memref<f32>, memref<150x300xi8>, memref<f32>, memref<40x700xi8>, memref<f32>, memref<3x1111xi8>, memref<f32>, memref<2x3000xi8>, memref<f32>, memref<20x50x90xi8>, memref<f32>) -> (), sym_name = "fp8.main", sym_visibility = "public"}> ({
  ^bb0(%arg0: memref<150x600xi8>, %arg1: memref<600x300xi8>, %arg2: memref<f32>, %arg3: memref<300xf32>, %arg4: memref<150x300xf32>, %arg5: memref<f32>, %arg6: memref<40x90xi8>, %arg7: memref<90x700xi8>, %arg8: memref<f32>, %arg9: memref<700xf32>, %arg10: memref<40x700xf32>, %arg11: memref<f32>, %arg12: memref<3x900xi8>, %arg13: memref<1111x900xi8>, %arg14: memref<f32>, %arg15: memref<1111xf32>, %arg16: memref<3x1111xf32>, %arg17: memref<f32>, %arg18: memref<2x400xi8>, %arg19: memref<400x3000xi8>, %arg20: memref<f32>, %arg21: memref<3000xf32>, %arg22: memref<2x3000xf32>, %arg23: memref<f32>, %arg24: memref<20x50x70xi8>, %arg25: memref<20x90x70xi8>, %arg26: memref<f32>, %arg27: memref<90xf32>, %arg28: memref<20x50x90xf32>, %arg29: memref<f32>, %arg30: memref<150x300xi8>, %arg31: memref<f32>, %arg32: memref<40x700xi8>, %arg33: memref<f32>, %arg34: memref<3x1111xi8>, %arg35: memref<f32>, %arg36: memref<2x3000xi8>, %arg37: memref<f32>, %arg38: memref<20x50x90xi8>, %arg39: memref<f32>):
    %0 = "arith.constant"() <{value = -2147483648 : i32}> : () -> i32
    %1 = "arith.constant"() <{value = 255 : i32}> : () -> i32
    %2 = "arith.constant"() <{value = 167773288 : i32}> : () -> i32
    %3 = "arith.constant"() <{value = 1139802112 : i32}> : () -> i32
    %4 = "arith.constant"() <{value = 2147483647 : i32}> : () -> i32
    %5 = "arith.constant"() <{value = 4.000000e+00 : f32}> : () -> f32
    %6 = "arith.constant"() <{value = -4.000000e+00 : f32}> : () -> f32
    %7 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
    %8 = "arith.constant"() <{value = 123 : i32}> : () -> i32
    %9 = "arith.constant"() <{value = 2139095040 : i32}> : () -> i32
    %10 = "arith.constant"() <{value = 947912704 : i32}> : () -> i32
    %11 = "arith.constant"() <{value = 939524096 : i32}> : () -> i32
    %12 = "arith.constant"() <{value = 21 : i32}> : () -> i32
    %13 = "arith.constant"() <{value = 24 : i32}> : () -> i32
    %14 = "arith.constant"() <{value = 128 : i32}> : () -> i32
    %15 = "arith.constant"() <{value = 2143289344 : i32}> : () -> i32
    %16 = "arith.constant"() <{value = 126 : i32}> : () -> i32
    %17 = "arith.constant"() <{value = 1015021568 : i32}> : () -> i32
    %18 = "arith.constant"() <{value = 1006632960 : i32}> : () -> i32
    %19 = "arith.constant"() <{value = 20 : i32}> : () -> i32
    %20 = "arith.constant"() <{value = 127 : i32}> : () -> i32
    %21 = "memref.alloc"() <{alignment = 64 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<150x600xf32>
    "linalg.generic"(%arg0, %21) <{indexing_maps = [#map, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg135: i8, %arg136: f32):
      %325 = "arith.extui"(%arg135) : (i8) -> i32
      %326 = "arith.andi"(%325, %20) : (i32, i32) -> i32
      %327 = "arith.shli"(%326, %19) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %328 = "arith.addi"(%327, %18) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %329 = "arith.maxui"(%328, %17) : (i32, i32) -> i32
      %330 = "arith.bitcast"(%328) : (i32) -> f32
      %331 = "arith.bitcast"(%329) : (i32) -> f32
      %332 = "arith.subf"(%330, %331) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %333 = "arith.addf"(%330, %332) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %334 = "arith.bitcast"(%333) : (f32) -> i32
      %335 = "arith.cmpi"(%326, %16) <{predicate = 8 : i64}> : (i32, i32) -> i1
      %336 = "arith.select"(%335, %15, %334) : (i1, i32, i32) -> i32
      %337 = "arith.andi"(%325, %14) : (i32, i32) -> i32
      %338 = "arith.shli"(%337, %13) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %339 = "arith.ori"(%336, %338) : (i32, i32) -> i32
      %340 = "arith.bitcast"(%339) : (i32) -> f32
      "linalg.yield"(%340) : (f32) -> ()
    }) : (memref<150x600xi8>, memref<150x600xf32>) -> ()
    %22 = "memref.alloc"() <{alignment = 64 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<600x300xf32>
    "linalg.generic"(%arg1, %22) <{indexing_maps = [#map, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg133: i8, %arg134: f32):
      %308 = "arith.extui"(%arg133) : (i8) -> i32
      %309 = "arith.andi"(%308, %20) : (i32, i32) -> i32
      %310 = "arith.shli"(%309, %12) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %311 = "arith.addi"(%310, %11) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %312 = "arith.maxui"(%311, %10) : (i32, i32) -> i32
      %313 = "arith.bitcast"(%311) : (i32) -> f32
      %314 = "arith.bitcast"(%312) : (i32) -> f32
      %315 = "arith.subf"(%313, %314) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %316 = "arith.addf"(%313, %315) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %317 = "arith.bitcast"(%316) : (f32) -> i32
      %318 = "arith.ori"(%317, %9) : (i32, i32) -> i32
      %319 = "arith.cmpi"(%309, %8) <{predicate = 8 : i64}> : (i32, i32) -> i1
      %320 = "arith.select"(%319, %318, %317) : (i1, i32, i32) -> i32
      %321 = "arith.andi"(%308, %14) : (i32, i32) -> i32
      %322 = "arith.shli"(%321, %13) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %323 = "arith.ori"(%320, %322) : (i32, i32) -> i32
      %324 = "arith.bitcast"(%323) : (i32) -> f32
      "linalg.yield"(%324) : (f32) -> ()
    }) : (memref<600x300xi8>, memref<600x300xf32>) -> ()
    %23 = "memref.alloc"() <{alignment = 64 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<150x300xf32>
    "linalg.generic"(%7, %23) <{indexing_maps = [#map1, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg131: f32, %arg132: f32):
      "linalg.yield"(%arg131) : (f32) -> ()
    }) : (f32, memref<150x300xf32>) -> ()
    "linalg.generic"(%21, %22, %23) <{indexing_maps = [#map2, #map3, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg128: f32, %arg129: f32, %arg130: f32):
      %306 = "arith.mulf"(%arg128, %arg129) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %307 = "arith.addf"(%arg130, %306) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%307) : (f32) -> ()
    }) : (memref<150x600xf32>, memref<600x300xf32>, memref<150x300xf32>) -> ()
    "linalg.generic"(%23, %arg2, %arg3, %arg4, %23) <{indexing_maps = [#map, #map1, #map5, #map, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 4, 1>}> ({
    ^bb0(%arg123: f32, %arg124: f32, %arg125: f32, %arg126: f32, %arg127: f32):
      %302 = "arith.mulf"(%arg123, %arg124) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %303 = "arith.addf"(%302, %arg125) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %304 = "math.tanh"(%303) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      %305 = "arith.addf"(%304, %arg126) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%305) : (f32) -> ()
    }) : (memref<150x300xf32>, memref<f32>, memref<300xf32>, memref<150x300xf32>, memref<150x300xf32>) -> ()
    "linalg.generic"(%7, %arg39) <{indexing_maps = [#map6, #map6], iterator_types = [], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg121: f32, %arg122: f32):
      "linalg.yield"(%arg121) : (f32) -> ()
    }) : (f32, memref<f32>) -> ()
    "memref.copy"(%arg39, %arg31) : (memref<f32>, memref<f32>) -> ()
    "linalg.generic"(%23, %arg31) <{indexing_maps = [#map, #map1], iterator_types = [#linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg119: f32, %arg120: f32):
      %300 = "math.absf"(%arg119) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      %301 = "arith.maximumf"(%arg120, %300) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%301) : (f32) -> ()
    }) : (memref<150x300xf32>, memref<f32>) -> ()
    "linalg.generic"(%23, %arg5, %arg30) <{indexing_maps = [#map, #map1, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg116: f32, %arg117: f32, %arg118: i8):
      %280 = "arith.divf"(%arg116, %arg117) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %281 = "arith.maximumf"(%280, %6) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %282 = "arith.minimumf"(%281, %5) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %283 = "arith.bitcast"(%282) : (f32) -> i32
      %284 = "arith.andi"(%283, %4) : (i32, i32) -> i32
      %285 = "arith.minui"(%284, %3) : (i32, i32) -> i32
      %286 = "arith.andi"(%285, %9) : (i32, i32) -> i32
      %287 = "arith.maxui"(%286, %17) : (i32, i32) -> i32
      %288 = "arith.addi"(%287, %2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %289 = "arith.bitcast"(%288) : (i32) -> f32
      %290 = "arith.bitcast"(%285) : (i32) -> f32
      %291 = "arith.subf"(%289, %290) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %292 = "arith.bitcast"(%291) : (f32) -> i32
      %293 = "arith.shrui"(%292, %19) : (i32, i32) -> i32
      %294 = "arith.subi"(%293, %292) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %295 = "arith.andi"(%294, %1) : (i32, i32) -> i32
      %296 = "arith.andi"(%283, %0) : (i32, i32) -> i32
      %297 = "arith.shrui"(%296, %13) : (i32, i32) -> i32
      %298 = "arith.ori"(%295, %297) : (i32, i32) -> i32
      %299 = "arith.trunci"(%298) <{overflowFlags = #arith.overflow<none>}> : (i32) -> i8
      "linalg.yield"(%299) : (i8) -> ()
    }) : (memref<150x300xf32>, memref<f32>, memref<150x300xi8>) -> ()
    %24 = "memref.alloc"() <{alignment = 64 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<40x90xf32>
    "linalg.generic"(%arg6, %24) <{indexing_maps = [#map, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg114: i8, %arg115: f32):
      %264 = "arith.extui"(%arg114) : (i8) -> i32
      %265 = "arith.andi"(%264, %20) : (i32, i32) -> i32
      %266 = "arith.shli"(%265, %19) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %267 = "arith.addi"(%266, %18) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %268 = "arith.maxui"(%267, %17) : (i32, i32) -> i32
      %269 = "arith.bitcast"(%267) : (i32) -> f32
      %270 = "arith.bitcast"(%268) : (i32) -> f32
      %271 = "arith.subf"(%269, %270) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %272 = "arith.addf"(%269, %271) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %273 = "arith.bitcast"(%272) : (f32) -> i32
      %274 = "arith.cmpi"(%265, %16) <{predicate = 8 : i64}> : (i32, i32) -> i1
      %275 = "arith.select"(%274, %15, %273) : (i1, i32, i32) -> i32
      %276 = "arith.andi"(%264, %14) : (i32, i32) -> i32
      %277 = "arith.shli"(%276, %13) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %278 = "arith.ori"(%275, %277) : (i32, i32) -> i32
      %279 = "arith.bitcast"(%278) : (i32) -> f32
      "linalg.yield"(%279) : (f32) -> ()
    }) : (memref<40x90xi8>, memref<40x90xf32>) -> ()
    %25 = "memref.alloc"() <{alignment = 64 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<90x700xf32>
    "linalg.generic"(%arg7, %25) <{indexing_maps = [#map, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg112: i8, %arg113: f32):
      %247 = "arith.extui"(%arg112) : (i8) -> i32
      %248 = "arith.andi"(%247, %20) : (i32, i32) -> i32
      %249 = "arith.shli"(%248, %12) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %250 = "arith.addi"(%249, %11) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %251 = "arith.maxui"(%250, %10) : (i32, i32) -> i32
      %252 = "arith.bitcast"(%250) : (i32) -> f32
      %253 = "arith.bitcast"(%251) : (i32) -> f32
      %254 = "arith.subf"(%252, %253) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %255 = "arith.addf"(%252, %254) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %256 = "arith.bitcast"(%255) : (f32) -> i32
      %257 = "arith.ori"(%256, %9) : (i32, i32) -> i32
      %258 = "arith.cmpi"(%248, %8) <{predicate = 8 : i64}> : (i32, i32) -> i1
      %259 = "arith.select"(%258, %257, %256) : (i1, i32, i32) -> i32
      %260 = "arith.andi"(%247, %14) : (i32, i32) -> i32
      %261 = "arith.shli"(%260, %13) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %262 = "arith.ori"(%259, %261) : (i32, i32) -> i32
      %263 = "arith.bitcast"(%262) : (i32) -> f32
      "linalg.yield"(%263) : (f32) -> ()
    }) : (memref<90x700xi8>, memref<90x700xf32>) -> ()
    %26 = "memref.alloc"() <{alignment = 64 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<40x700xf32>
    "linalg.generic"(%7, %26) <{indexing_maps = [#map1, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg110: f32, %arg111: f32):
      "linalg.yield"(%arg110) : (f32) -> ()
    }) : (f32, memref<40x700xf32>) -> ()
    "linalg.generic"(%24, %25, %26) <{indexing_maps = [#map2, #map3, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg107: f32, %arg108: f32, %arg109: f32):
      %245 = "arith.mulf"(%arg107, %arg108) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %246 = "arith.addf"(%arg109, %245) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%246) : (f32) -> ()
    }) : (memref<40x90xf32>, memref<90x700xf32>, memref<40x700xf32>) -> ()
    "linalg.generic"(%26, %arg8, %arg9, %arg10, %26) <{indexing_maps = [#map, #map1, #map5, #map, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 4, 1>}> ({
    ^bb0(%arg102: f32, %arg103: f32, %arg104: f32, %arg105: f32, %arg106: f32):
      %241 = "arith.mulf"(%arg102, %arg103) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %242 = "arith.addf"(%241, %arg104) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %243 = "math.tanh"(%242) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      %244 = "arith.addf"(%243, %arg105) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%244) : (f32) -> ()
    }) : (memref<40x700xf32>, memref<f32>, memref<700xf32>, memref<40x700xf32>, memref<40x700xf32>) -> ()
    "memref.copy"(%arg39, %arg33) : (memref<f32>, memref<f32>) -> ()
    "linalg.generic"(%26, %arg33) <{indexing_maps = [#map, #map1], iterator_types = [#linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg100: f32, %arg101: f32):
      %239 = "math.absf"(%arg100) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      %240 = "arith.maximumf"(%arg101, %239) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%240) : (f32) -> ()
    }) : (memref<40x700xf32>, memref<f32>) -> ()
    "linalg.generic"(%26, %arg11, %arg32) <{indexing_maps = [#map, #map1, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg97: f32, %arg98: f32, %arg99: i8):
      %219 = "arith.divf"(%arg97, %arg98) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %220 = "arith.maximumf"(%219, %6) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %221 = "arith.minimumf"(%220, %5) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %222 = "arith.bitcast"(%221) : (f32) -> i32
      %223 = "arith.andi"(%222, %4) : (i32, i32) -> i32
      %224 = "arith.minui"(%223, %3) : (i32, i32) -> i32
      %225 = "arith.andi"(%224, %9) : (i32, i32) -> i32
      %226 = "arith.maxui"(%225, %17) : (i32, i32) -> i32
      %227 = "arith.addi"(%226, %2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %228 = "arith.bitcast"(%227) : (i32) -> f32
      %229 = "arith.bitcast"(%224) : (i32) -> f32
      %230 = "arith.subf"(%228, %229) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %231 = "arith.bitcast"(%230) : (f32) -> i32
      %232 = "arith.shrui"(%231, %19) : (i32, i32) -> i32
      %233 = "arith.subi"(%232, %231) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %234 = "arith.andi"(%233, %1) : (i32, i32) -> i32
      %235 = "arith.andi"(%222, %0) : (i32, i32) -> i32
      %236 = "arith.shrui"(%235, %13) : (i32, i32) -> i32
      %237 = "arith.ori"(%234, %236) : (i32, i32) -> i32
      %238 = "arith.trunci"(%237) <{overflowFlags = #arith.overflow<none>}> : (i32) -> i8
      "linalg.yield"(%238) : (i8) -> ()
    }) : (memref<40x700xf32>, memref<f32>, memref<40x700xi8>) -> ()
    %27 = "memref.alloc"() <{alignment = 64 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<3x900xf32>
    "linalg.generic"(%arg12, %27) <{indexing_maps = [#map, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg95: i8, %arg96: f32):
      %203 = "arith.extui"(%arg95) : (i8) -> i32
      %204 = "arith.andi"(%203, %20) : (i32, i32) -> i32
      %205 = "arith.shli"(%204, %19) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %206 = "arith.addi"(%205, %18) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %207 = "arith.maxui"(%206, %17) : (i32, i32) -> i32
      %208 = "arith.bitcast"(%206) : (i32) -> f32
      %209 = "arith.bitcast"(%207) : (i32) -> f32
      %210 = "arith.subf"(%208, %209) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %211 = "arith.addf"(%208, %210) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %212 = "arith.bitcast"(%211) : (f32) -> i32
      %213 = "arith.cmpi"(%204, %16) <{predicate = 8 : i64}> : (i32, i32) -> i1
      %214 = "arith.select"(%213, %15, %212) : (i1, i32, i32) -> i32
      %215 = "arith.andi"(%203, %14) : (i32, i32) -> i32
      %216 = "arith.shli"(%215, %13) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %217 = "arith.ori"(%214, %216) : (i32, i32) -> i32
      %218 = "arith.bitcast"(%217) : (i32) -> f32
      "linalg.yield"(%218) : (f32) -> ()
    }) : (memref<3x900xi8>, memref<3x900xf32>) -> ()
    %28 = "memref.alloc"() <{alignment = 64 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<1111x900xf32>
    "linalg.generic"(%arg13, %28) <{indexing_maps = [#map, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg93: i8, %arg94: f32):
      %186 = "arith.extui"(%arg93) : (i8) -> i32
      %187 = "arith.andi"(%186, %20) : (i32, i32) -> i32
      %188 = "arith.shli"(%187, %12) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %189 = "arith.addi"(%188, %11) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %190 = "arith.maxui"(%189, %10) : (i32, i32) -> i32
      %191 = "arith.bitcast"(%189) : (i32) -> f32
      %192 = "arith.bitcast"(%190) : (i32) -> f32
      %193 = "arith.subf"(%191, %192) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %194 = "arith.addf"(%191, %193) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %195 = "arith.bitcast"(%194) : (f32) -> i32
      %196 = "arith.ori"(%195, %9) : (i32, i32) -> i32
      %197 = "arith.cmpi"(%187, %8) <{predicate = 8 : i64}> : (i32, i32) -> i1
      %198 = "arith.select"(%197, %196, %195) : (i1, i32, i32) -> i32
      %199 = "arith.andi"(%186, %14) : (i32, i32) -> i32
      %200 = "arith.shli"(%199, %13) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %201 = "arith.ori"(%198, %200) : (i32, i32) -> i32
      %202 = "arith.bitcast"(%201) : (i32) -> f32
      "linalg.yield"(%202) : (f32) -> ()
    }) : (memref<1111x900xi8>, memref<1111x900xf32>) -> ()
    %29 = "memref.alloc"() <{alignment = 64 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<3x1111xf32>
    "linalg.generic"(%7, %29) <{indexing_maps = [#map1, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg91: f32, %arg92: f32):
      "linalg.yield"(%arg91) : (f32) -> ()
    }) : (f32, memref<3x1111xf32>) -> ()
    "linalg.generic"(%27, %28, %29) <{indexing_maps = [#map2, #map7, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg88: f32, %arg89: f32, %arg90: f32):
      %184 = "arith.mulf"(%arg88, %arg89) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %185 = "arith.addf"(%arg90, %184) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%185) : (f32) -> ()
    }) : (memref<3x900xf32>, memref<1111x900xf32>, memref<3x1111xf32>) -> ()
    "linalg.generic"(%29, %arg14, %arg15, %arg16, %29) <{indexing_maps = [#map, #map1, #map5, #map, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 4, 1>}> ({
    ^bb0(%arg83: f32, %arg84: f32, %arg85: f32, %arg86: f32, %arg87: f32):
      %180 = "arith.mulf"(%arg83, %arg84) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %181 = "arith.addf"(%180, %arg85) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %182 = "math.tanh"(%181) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      %183 = "arith.addf"(%182, %arg86) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%183) : (f32) -> ()
    }) : (memref<3x1111xf32>, memref<f32>, memref<1111xf32>, memref<3x1111xf32>, memref<3x1111xf32>) -> ()
    "memref.copy"(%arg39, %arg35) : (memref<f32>, memref<f32>) -> ()
    "linalg.generic"(%29, %arg35) <{indexing_maps = [#map, #map1], iterator_types = [#linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg81: f32, %arg82: f32):
      %178 = "math.absf"(%arg81) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      %179 = "arith.maximumf"(%arg82, %178) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%179) : (f32) -> ()
    }) : (memref<3x1111xf32>, memref<f32>) -> ()
    "linalg.generic"(%29, %arg17, %arg34) <{indexing_maps = [#map, #map1, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg78: f32, %arg79: f32, %arg80: i8):
      %158 = "arith.divf"(%arg78, %arg79) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %159 = "arith.maximumf"(%158, %6) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %160 = "arith.minimumf"(%159, %5) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %161 = "arith.bitcast"(%160) : (f32) -> i32
      %162 = "arith.andi"(%161, %4) : (i32, i32) -> i32
      %163 = "arith.minui"(%162, %3) : (i32, i32) -> i32
      %164 = "arith.andi"(%163, %9) : (i32, i32) -> i32
      %165 = "arith.maxui"(%164, %17) : (i32, i32) -> i32
      %166 = "arith.addi"(%165, %2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %167 = "arith.bitcast"(%166) : (i32) -> f32
      %168 = "arith.bitcast"(%163) : (i32) -> f32
      %169 = "arith.subf"(%167, %168) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %170 = "arith.bitcast"(%169) : (f32) -> i32
      %171 = "arith.shrui"(%170, %19) : (i32, i32) -> i32
      %172 = "arith.subi"(%171, %170) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %173 = "arith.andi"(%172, %1) : (i32, i32) -> i32
      %174 = "arith.andi"(%161, %0) : (i32, i32) -> i32
      %175 = "arith.shrui"(%174, %13) : (i32, i32) -> i32
      %176 = "arith.ori"(%173, %175) : (i32, i32) -> i32
      %177 = "arith.trunci"(%176) <{overflowFlags = #arith.overflow<none>}> : (i32) -> i8
      "linalg.yield"(%177) : (i8) -> ()
    }) : (memref<3x1111xf32>, memref<f32>, memref<3x1111xi8>) -> ()
    %30 = "memref.alloc"() <{alignment = 64 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<2x400xf32>
    "linalg.generic"(%arg18, %30) <{indexing_maps = [#map, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg76: i8, %arg77: f32):
      %142 = "arith.extui"(%arg76) : (i8) -> i32
      %143 = "arith.andi"(%142, %20) : (i32, i32) -> i32
      %144 = "arith.shli"(%143, %19) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %145 = "arith.addi"(%144, %18) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %146 = "arith.maxui"(%145, %17) : (i32, i32) -> i32
      %147 = "arith.bitcast"(%145) : (i32) -> f32
      %148 = "arith.bitcast"(%146) : (i32) -> f32
      %149 = "arith.subf"(%147, %148) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %150 = "arith.addf"(%147, %149) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %151 = "arith.bitcast"(%150) : (f32) -> i32
      %152 = "arith.cmpi"(%143, %16) <{predicate = 8 : i64}> : (i32, i32) -> i1
      %153 = "arith.select"(%152, %15, %151) : (i1, i32, i32) -> i32
      %154 = "arith.andi"(%142, %14) : (i32, i32) -> i32
      %155 = "arith.shli"(%154, %13) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %156 = "arith.ori"(%153, %155) : (i32, i32) -> i32
      %157 = "arith.bitcast"(%156) : (i32) -> f32
      "linalg.yield"(%157) : (f32) -> ()
    }) : (memref<2x400xi8>, memref<2x400xf32>) -> ()
    %31 = "memref.alloc"() <{alignment = 64 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<400x3000xf32>
    "linalg.generic"(%arg19, %31) <{indexing_maps = [#map, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg74: i8, %arg75: f32):
      %125 = "arith.extui"(%arg74) : (i8) -> i32
      %126 = "arith.andi"(%125, %20) : (i32, i32) -> i32
      %127 = "arith.shli"(%126, %12) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %128 = "arith.addi"(%127, %11) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %129 = "arith.maxui"(%128, %10) : (i32, i32) -> i32
      %130 = "arith.bitcast"(%128) : (i32) -> f32
      %131 = "arith.bitcast"(%129) : (i32) -> f32
      %132 = "arith.subf"(%130, %131) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %133 = "arith.addf"(%130, %132) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %134 = "arith.bitcast"(%133) : (f32) -> i32
      %135 = "arith.ori"(%134, %9) : (i32, i32) -> i32
      %136 = "arith.cmpi"(%126, %8) <{predicate = 8 : i64}> : (i32, i32) -> i1
      %137 = "arith.select"(%136, %135, %134) : (i1, i32, i32) -> i32
      %138 = "arith.andi"(%125, %14) : (i32, i32) -> i32
      %139 = "arith.shli"(%138, %13) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %140 = "arith.ori"(%137, %139) : (i32, i32) -> i32
      %141 = "arith.bitcast"(%140) : (i32) -> f32
      "linalg.yield"(%141) : (f32) -> ()
    }) : (memref<400x3000xi8>, memref<400x3000xf32>) -> ()
    %32 = "memref.alloc"() <{alignment = 64 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<2x3000xf32>
    "linalg.generic"(%7, %32) <{indexing_maps = [#map1, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg72: f32, %arg73: f32):
      "linalg.yield"(%arg72) : (f32) -> ()
    }) : (f32, memref<2x3000xf32>) -> ()
    "linalg.generic"(%30, %31, %32) <{indexing_maps = [#map2, #map3, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg69: f32, %arg70: f32, %arg71: f32):
      %123 = "arith.mulf"(%arg69, %arg70) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %124 = "arith.addf"(%arg71, %123) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%124) : (f32) -> ()
    }) : (memref<2x400xf32>, memref<400x3000xf32>, memref<2x3000xf32>) -> ()
    "linalg.generic"(%32, %arg20, %arg21, %arg22, %32) <{indexing_maps = [#map, #map1, #map5, #map, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 4, 1>}> ({
    ^bb0(%arg64: f32, %arg65: f32, %arg66: f32, %arg67: f32, %arg68: f32):
      %119 = "arith.mulf"(%arg64, %arg65) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %120 = "arith.addf"(%119, %arg66) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %121 = "math.tanh"(%120) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      %122 = "arith.addf"(%121, %arg67) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%122) : (f32) -> ()
    }) : (memref<2x3000xf32>, memref<f32>, memref<3000xf32>, memref<2x3000xf32>, memref<2x3000xf32>) -> ()
    "memref.copy"(%arg39, %arg37) : (memref<f32>, memref<f32>) -> ()
    "linalg.generic"(%32, %arg37) <{indexing_maps = [#map, #map1], iterator_types = [#linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg62: f32, %arg63: f32):
      %117 = "math.absf"(%arg62) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      %118 = "arith.maximumf"(%arg63, %117) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%118) : (f32) -> ()
    }) : (memref<2x3000xf32>, memref<f32>) -> ()
    "linalg.generic"(%32, %arg23, %arg36) <{indexing_maps = [#map, #map1, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg59: f32, %arg60: f32, %arg61: i8):
      %97 = "arith.divf"(%arg59, %arg60) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %98 = "arith.maximumf"(%97, %6) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %99 = "arith.minimumf"(%98, %5) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %100 = "arith.bitcast"(%99) : (f32) -> i32
      %101 = "arith.andi"(%100, %4) : (i32, i32) -> i32
      %102 = "arith.minui"(%101, %3) : (i32, i32) -> i32
      %103 = "arith.andi"(%102, %9) : (i32, i32) -> i32
      %104 = "arith.maxui"(%103, %17) : (i32, i32) -> i32
      %105 = "arith.addi"(%104, %2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %106 = "arith.bitcast"(%105) : (i32) -> f32
      %107 = "arith.bitcast"(%102) : (i32) -> f32
      %108 = "arith.subf"(%106, %107) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %109 = "arith.bitcast"(%108) : (f32) -> i32
      %110 = "arith.shrui"(%109, %19) : (i32, i32) -> i32
      %111 = "arith.subi"(%110, %109) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %112 = "arith.andi"(%111, %1) : (i32, i32) -> i32
      %113 = "arith.andi"(%100, %0) : (i32, i32) -> i32
      %114 = "arith.shrui"(%113, %13) : (i32, i32) -> i32
      %115 = "arith.ori"(%112, %114) : (i32, i32) -> i32
      %116 = "arith.trunci"(%115) <{overflowFlags = #arith.overflow<none>}> : (i32) -> i8
      "linalg.yield"(%116) : (i8) -> ()
    }) : (memref<2x3000xf32>, memref<f32>, memref<2x3000xi8>) -> ()
    %33 = "memref.alloc"() <{alignment = 64 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<20x50x70xf32>
    "linalg.generic"(%arg24, %33) <{indexing_maps = [#map8, #map8], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg57: i8, %arg58: f32):
      %81 = "arith.extui"(%arg57) : (i8) -> i32
      %82 = "arith.andi"(%81, %20) : (i32, i32) -> i32
      %83 = "arith.shli"(%82, %19) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %84 = "arith.addi"(%83, %18) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %85 = "arith.maxui"(%84, %17) : (i32, i32) -> i32
      %86 = "arith.bitcast"(%84) : (i32) -> f32
      %87 = "arith.bitcast"(%85) : (i32) -> f32
      %88 = "arith.subf"(%86, %87) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %89 = "arith.addf"(%86, %88) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %90 = "arith.bitcast"(%89) : (f32) -> i32
      %91 = "arith.cmpi"(%82, %16) <{predicate = 8 : i64}> : (i32, i32) -> i1
      %92 = "arith.select"(%91, %15, %90) : (i1, i32, i32) -> i32
      %93 = "arith.andi"(%81, %14) : (i32, i32) -> i32
      %94 = "arith.shli"(%93, %13) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %95 = "arith.ori"(%92, %94) : (i32, i32) -> i32
      %96 = "arith.bitcast"(%95) : (i32) -> f32
      "linalg.yield"(%96) : (f32) -> ()
    }) : (memref<20x50x70xi8>, memref<20x50x70xf32>) -> ()
    %34 = "memref.alloc"() <{alignment = 64 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<20x90x70xf32>
    "linalg.generic"(%arg25, %34) <{indexing_maps = [#map8, #map8], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg55: i8, %arg56: f32):
      %64 = "arith.extui"(%arg55) : (i8) -> i32
      %65 = "arith.andi"(%64, %20) : (i32, i32) -> i32
      %66 = "arith.shli"(%65, %12) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %67 = "arith.addi"(%66, %11) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %68 = "arith.maxui"(%67, %10) : (i32, i32) -> i32
      %69 = "arith.bitcast"(%67) : (i32) -> f32
      %70 = "arith.bitcast"(%68) : (i32) -> f32
      %71 = "arith.subf"(%69, %70) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %72 = "arith.addf"(%69, %71) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %73 = "arith.bitcast"(%72) : (f32) -> i32
      %74 = "arith.ori"(%73, %9) : (i32, i32) -> i32
      %75 = "arith.cmpi"(%65, %8) <{predicate = 8 : i64}> : (i32, i32) -> i1
      %76 = "arith.select"(%75, %74, %73) : (i1, i32, i32) -> i32
      %77 = "arith.andi"(%64, %14) : (i32, i32) -> i32
      %78 = "arith.shli"(%77, %13) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %79 = "arith.ori"(%76, %78) : (i32, i32) -> i32
      %80 = "arith.bitcast"(%79) : (i32) -> f32
      "linalg.yield"(%80) : (f32) -> ()
    }) : (memref<20x90x70xi8>, memref<20x90x70xf32>) -> ()
    %35 = "memref.alloc"() <{alignment = 64 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<20x50x90xf32>
    "linalg.generic"(%7, %35) <{indexing_maps = [#map9, #map8], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg53: f32, %arg54: f32):
      "linalg.yield"(%arg53) : (f32) -> ()
    }) : (f32, memref<20x50x90xf32>) -> ()
    "linalg.generic"(%33, %34, %35) <{indexing_maps = [#map10, #map11, #map12], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg50: f32, %arg51: f32, %arg52: f32):
      %62 = "arith.mulf"(%arg50, %arg51) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %63 = "arith.addf"(%arg52, %62) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%63) : (f32) -> ()
    }) : (memref<20x50x70xf32>, memref<20x90x70xf32>, memref<20x50x90xf32>) -> ()
    "linalg.generic"(%35, %arg26, %arg27, %arg28, %35) <{indexing_maps = [#map8, #map9, #map13, #map8, #map8], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 4, 1>}> ({
    ^bb0(%arg45: f32, %arg46: f32, %arg47: f32, %arg48: f32, %arg49: f32):
      %58 = "arith.mulf"(%arg45, %arg46) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %59 = "arith.addf"(%58, %arg47) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %60 = "math.tanh"(%59) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      %61 = "arith.addf"(%60, %arg48) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%61) : (f32) -> ()
    }) : (memref<20x50x90xf32>, memref<f32>, memref<90xf32>, memref<20x50x90xf32>, memref<20x50x90xf32>) -> ()
    "linalg.generic"(%35, %arg39) <{indexing_maps = [#map8, #map9], iterator_types = [#linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg43: f32, %arg44: f32):
      %56 = "math.absf"(%arg43) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      %57 = "arith.maximumf"(%arg44, %56) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%57) : (f32) -> ()
    }) : (memref<20x50x90xf32>, memref<f32>) -> ()
    "linalg.generic"(%35, %arg29, %arg38) <{indexing_maps = [#map8, #map9, #map8], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg40: f32, %arg41: f32, %arg42: i8):
      %36 = "arith.divf"(%arg40, %arg41) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %37 = "arith.maximumf"(%36, %6) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %38 = "arith.minimumf"(%37, %5) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %39 = "arith.bitcast"(%38) : (f32) -> i32
      %40 = "arith.andi"(%39, %4) : (i32, i32) -> i32
      %41 = "arith.minui"(%40, %3) : (i32, i32) -> i32
      %42 = "arith.andi"(%41, %9) : (i32, i32) -> i32
      %43 = "arith.maxui"(%42, %17) : (i32, i32) -> i32
      %44 = "arith.addi"(%43, %2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %45 = "arith.bitcast"(%44) : (i32) -> f32
      %46 = "arith.bitcast"(%41) : (i32) -> f32
      %47 = "arith.subf"(%45, %46) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %48 = "arith.bitcast"(%47) : (f32) -> i32
      %49 = "arith.shrui"(%48, %19) : (i32, i32) -> i32
      %50 = "arith.subi"(%49, %48) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %51 = "arith.andi"(%50, %1) : (i32, i32) -> i32
      %52 = "arith.andi"(%39, %0) : (i32, i32) -> i32
      %53 = "arith.shrui"(%52, %13) : (i32, i32) -> i32
      %54 = "arith.ori"(%51, %53) : (i32, i32) -> i32
      %55 = "arith.trunci"(%54) <{overflowFlags = #arith.overflow<none>}> : (i32) -> i8
      "linalg.yield"(%55) : (i8) -> ()
    }) : (memref<20x50x90xf32>, memref<f32>, memref<20x50x90xi8>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(linalg-contract-to-kernels{target=host parallel=false apart=false})",
      disable_threading: true,
      verify_each: false
    }
  }
#-}
