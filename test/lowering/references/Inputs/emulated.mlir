// What instructions of AMX, AVX-512 and Arm do, for processors without them: Intel's Software
// Developer's Manual, TDPBF16PS, TDPBSSD and its kin, VPDPBUSD, VPMADDWD, VPERMI2B, VPERMB; Arm's
// Architecture Reference Manual, BFMMLA, FDOT, FPMR. The kernels configure all eight tiles as 16 rows
// of 64 bytes.

memref.global "private" @tiles : memref<8x16x16xi32> = dense<0>

func.func private @emulated.ldtilecfg(%config: !llvm.ptr) attributes {no_inline} {
  return
}

func.func private @emulated.tilerelease() attributes {no_inline} {
  return
}

func.func private @emulated.tilezero(%tile: i8) attributes {no_inline} {
  %tiles = memref.get_global @tiles : memref<8x16x16xi32>
  %t = arith.index_castui %tile : i8 to index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c16 step %c1 {
      memref.store %zero, %tiles[%t, %i, %j] : memref<8x16x16xi32>
    }
  }
  return
}

func.func private @emulated.tileloadd64(%tile: i8, %from: !llvm.ptr, %stride: i64)
    attributes {no_inline} {
  %tiles = memref.get_global @tiles : memref<8x16x16xi32>
  %t = arith.index_castui %tile : i8 to index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %four = arith.constant 4 : i64
  scf.for %i = %c0 to %c16 step %c1 {
    %row = arith.index_cast %i : index to i64
    %start = arith.muli %row, %stride : i64
    scf.for %j = %c0 to %c16 step %c1 {
      %column = arith.index_cast %j : index to i64
      %bytes = arith.muli %column, %four : i64
      %place = arith.addi %start, %bytes : i64
      %address = llvm.getelementptr %from[%place] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %word = llvm.load %address {alignment = 4 : i64} : !llvm.ptr -> i32
      memref.store %word, %tiles[%t, %i, %j] : memref<8x16x16xi32>
    }
  }
  return
}

func.func private @emulated.tilestored64(%tile: i8, %to: !llvm.ptr, %stride: i64)
    attributes {no_inline} {
  %tiles = memref.get_global @tiles : memref<8x16x16xi32>
  %t = arith.index_castui %tile : i8 to index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %four = arith.constant 4 : i64
  scf.for %i = %c0 to %c16 step %c1 {
    %row = arith.index_cast %i : index to i64
    %start = arith.muli %row, %stride : i64
    scf.for %j = %c0 to %c16 step %c1 {
      %column = arith.index_cast %j : index to i64
      %bytes = arith.muli %column, %four : i64
      %place = arith.addi %start, %bytes : i64
      %address = llvm.getelementptr %to[%place] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %word = memref.load %tiles[%t, %i, %j] : memref<8x16x16xi32>
      llvm.store %word, %address {alignment = 4 : i64} : i32, !llvm.ptr
    }
  }
  return
}

// The number of a bf16 in the high bits of a word: subnormal ones count as zero.
func.func private @emulated.number(%bits: i32) -> f32 attributes {no_inline} {
  %exponent = arith.constant 0x7F800000 : i32
  %sign = arith.constant 0x80000000 : i32
  %zero = arith.constant 0 : i32
  %e = arith.andi %bits, %exponent : i32
  %s = arith.andi %bits, %sign : i32
  %is_small = arith.cmpi eq, %e, %zero : i32
  %kept = arith.select %is_small, %s, %bits : i32
  %number = arith.bitcast %kept : i32 to f32
  return %number : f32
}

func.func private @emulated.tdpbf16ps(%to: i8, %left: i8, %right: i8) attributes {no_inline} {
  %tiles = memref.get_global @tiles : memref<8x16x16xi32>
  %c = arith.index_castui %to : i8 to index
  %a = arith.index_castui %left : i8 to index
  %b = arith.index_castui %right : i8 to index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %shift = arith.constant 16 : i32
  %high = arith.constant 0xFFFF0000 : i32
  %zero = arith.constant 0.0 : f32
  scf.for %m = %c0 to %c16 step %c1 {
    scf.for %n = %c0 to %c16 step %c1 {
      %sums:2 = scf.for %k = %c0 to %c16 step %c1 iter_args(%even = %zero, %odd = %zero)
          -> (f32, f32) {
        %x = memref.load %tiles[%a, %m, %k] : memref<8x16x16xi32>
        %y = memref.load %tiles[%b, %k, %n] : memref<8x16x16xi32>
        %xl = arith.shli %x, %shift : i32
        %yl = arith.shli %y, %shift : i32
        %xh = arith.andi %x, %high : i32
        %yh = arith.andi %y, %high : i32
        %x0 = func.call @emulated.number(%xl) : (i32) -> f32
        %y0 = func.call @emulated.number(%yl) : (i32) -> f32
        %x1 = func.call @emulated.number(%xh) : (i32) -> f32
        %y1 = func.call @emulated.number(%yh) : (i32) -> f32
        %e = math.fma %x0, %y0, %even : f32
        %o = math.fma %x1, %y1, %odd : f32
        scf.yield %e, %o : f32, f32
      }
      %both = arith.addf %sums#0, %sums#1 : f32
      %before = memref.load %tiles[%c, %m, %n] : memref<8x16x16xi32>
      %old = arith.bitcast %before : i32 to f32
      %new = arith.addf %old, %both : f32
      %word = arith.bitcast %new : f32 to i32
      memref.store %word, %tiles[%c, %m, %n] : memref<8x16x16xi32>
    }
  }
  return
}

func.func private @emulated.avx512.vpermi2var.qi.512(%low: vector<64xi8>, %places: vector<64xi8>,
    %high: vector<64xi8>) -> vector<64xi8> attributes {no_inline} {
  %table = memref.alloca() {alignment = 64 : i64} : memref<128xi8>
  %found = memref.alloca() {alignment = 64 : i64} : memref<64xi8>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %mask = arith.constant 127 : i8
  vector.store %low, %table[%c0] : memref<128xi8>, vector<64xi8>
  vector.store %high, %table[%c64] : memref<128xi8>, vector<64xi8>
  vector.store %places, %found[%c0] : memref<64xi8>, vector<64xi8>
  scf.for %i = %c0 to %c64 step %c1 {
    %code = memref.load %found[%i] : memref<64xi8>
    %number = arith.andi %code, %mask : i8
    %place = arith.index_castui %number : i8 to index
    %byte = memref.load %table[%place] : memref<128xi8>
    memref.store %byte, %found[%i] : memref<64xi8>
  }
  %result = vector.load %found[%c0] : memref<64xi8>, vector<64xi8>
  return %result : vector<64xi8>
}

func.func private @emulated.avx512.permvar.qi.512(%bytes: vector<64xi8>, %places: vector<64xi8>)
    -> vector<64xi8> attributes {no_inline} {
  %mask = arith.constant dense<63> : vector<64xi8>
  %inside = arith.andi %places, %mask : vector<64xi8>
  %result = func.call @emulated.avx512.vpermi2var.qi.512(%bytes, %inside, %bytes)
      : (vector<64xi8>, vector<64xi8>, vector<64xi8>) -> vector<64xi8>
  return %result : vector<64xi8>
}

// What vdpbf16ps does.
func.func private @emulated.dot(%total: vector<16xf32>, %a: vector<32xbf16>, %b: vector<32xbf16>)
    -> vector<16xf32> attributes {llvm.no_inline, no_inline} {
  %shift = arith.constant dense<16> : vector<16xi32>
  %mask = arith.constant dense<0xFFFF0000> : vector<16xi32>
  %x = vector.bitcast %a : vector<32xbf16> to vector<16xi32>
  %y = vector.bitcast %b : vector<32xbf16> to vector<16xi32>
  %xl = arith.shli %x, %shift : vector<16xi32>
  %yl = arith.shli %y, %shift : vector<16xi32>
  %xh = arith.andi %x, %mask : vector<16xi32>
  %yh = arith.andi %y, %mask : vector<16xi32>
  %xf = arith.bitcast %xl : vector<16xi32> to vector<16xf32>
  %yf = arith.bitcast %yl : vector<16xi32> to vector<16xf32>
  %xg = arith.bitcast %xh : vector<16xi32> to vector<16xf32>
  %yg = arith.bitcast %yh : vector<16xi32> to vector<16xf32>
  %p = arith.mulf %xf, %yf : vector<16xf32>
  %q = arith.mulf %xg, %yg : vector<16xf32>
  %s = arith.addf %total, %q : vector<16xf32>
  %t = arith.addf %s, %p : vector<16xf32>
  return %t : vector<16xf32>
}

// A sum as those of BFMMLA: rounded to odd, subnormal numbers count as zero.
func.func private @emulated.odd_sum(%x: f32, %y: f32) -> f32 attributes {no_inline} {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %minus = arith.constant -1 : i32
  %xb = arith.bitcast %x : f32 to i32
  %yb = arith.bitcast %y : f32 to i32
  %a = func.call @emulated.number(%xb) : (i32) -> f32
  %b = func.call @emulated.number(%yb) : (i32) -> f32
  %s = arith.addf %a, %b : f32
  %bb = arith.subf %s, %a : f32
  %aa = arith.subf %s, %bb : f32
  %ea = arith.subf %a, %aa : f32
  %eb = arith.subf %b, %bb : f32
  %e = arith.addf %ea, %eb : f32
  %sb = arith.bitcast %s : f32 to i32
  %rb = arith.bitcast %e : f32 to i32
  %is_inexact = arith.cmpf one, %e, %zero : f32
  %last = arith.andi %sb, %one : i32
  %is_even = arith.cmpi eq, %last, %none : i32
  %moves = arith.andi %is_inexact, %is_even : i1
  %signs = arith.xori %sb, %rb : i32
  %is_beyond = arith.cmpi sge, %signs, %none : i32
  %step = arith.select %is_beyond, %one, %minus : i32
  %odd = arith.addi %sb, %step : i32
  %rounded = arith.select %moves, %odd, %sb : i32
  %result = func.call @emulated.number(%rounded) : (i32) -> f32
  return %result : f32
}

func.func private @emulated.neon.bfmmla(%c: vector<4xf32>, %left: vector<8xbf16>,
    %right: vector<8xbf16>) -> vector<4xf32> attributes {llvm.no_inline, no_inline} {
  %a = memref.alloca() : memref<8xi16>
  %b = memref.alloca() : memref<8xi16>
  %sums = memref.alloca() : memref<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %shift = arith.constant 16 : i32
  %x = vector.bitcast %left : vector<8xbf16> to vector<8xi16>
  %y = vector.bitcast %right : vector<8xbf16> to vector<8xi16>
  vector.store %x, %a[%c0] : memref<8xi16>, vector<8xi16>
  vector.store %y, %b[%c0] : memref<8xi16>, vector<8xi16>
  vector.store %c, %sums[%c0] : memref<4xf32>, vector<4xf32>
  %products = memref.alloca() : memref<4xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    scf.for %j = %c0 to %c2 step %c1 {
      %i2 = arith.muli %i, %c2 : index
      %ij = arith.addi %i2, %j : index
      %i4 = arith.muli %i, %c4 : index
      %j4 = arith.muli %j, %c4 : index
      scf.for %k = %c0 to %c4 step %c1 {
        %ak = arith.addi %i4, %k : index
        %bk = arith.addi %j4, %k : index
        %ah = memref.load %a[%ak] : memref<8xi16>
        %bh = memref.load %b[%bk] : memref<8xi16>
        %aw = arith.extui %ah : i16 to i32
        %bw = arith.extui %bh : i16 to i32
        %ab = arith.shli %aw, %shift : i32
        %bb = arith.shli %bw, %shift : i32
        %af = func.call @emulated.number(%ab) : (i32) -> f32
        %bf = func.call @emulated.number(%bb) : (i32) -> f32
        %p = arith.mulf %af, %bf : f32
        memref.store %p, %products[%k] : memref<4xf32>
      }
      scf.for %k = %c0 to %c4 step %c2 {
        %k1 = arith.addi %k, %c1 : index
        %p = memref.load %products[%k] : memref<4xf32>
        %q = memref.load %products[%k1] : memref<4xf32>
        %before = memref.load %sums[%ij] : memref<4xf32>
        %pair = func.call @emulated.odd_sum(%p, %q) : (f32, f32) -> f32
        %sum = func.call @emulated.odd_sum(%before, %pair) : (f32, f32) -> f32
        memref.store %sum, %sums[%ij] : memref<4xf32>
      }
    }
  }
  %result = vector.load %sums[%c0] : memref<4xf32>, vector<4xf32>
  return %result : vector<4xf32>
}

memref.global "private" @fpmr : memref<1xi64> = dense<0>

func.func private @emulated.set.fpmr(%mode: i64) attributes {no_inline} {
  %fpmr = memref.get_global @fpmr : memref<1xi64>
  %c0 = arith.constant 0 : index
  memref.store %mode, %fpmr[%c0] : memref<1xi64>
  return
}

func.func private @emulated.get.fpmr() -> i64 attributes {no_inline} {
  %fpmr = memref.get_global @fpmr : memref<1xi64>
  %c0 = arith.constant 0 : index
  %mode = memref.load %fpmr[%c0] : memref<1xi64>
  return %mode : i64
}

// The number of a code of E5M2, or of E4M3 where the lowest bits of the mode are one.
func.func private @emulated.code(%code: i8, %mode: i64) -> f64 attributes {no_inline} {
  %seven = arith.constant 7 : i64
  %one = arith.constant 1 : i64
  %of_half = arith.constant 8 : i16
  %one_less = arith.constant 7 : i16
  %sign = arith.constant 0x8000 : i16
  %most = arith.constant 0x7F : i16
  %scale = arith.constant 256.0 : f64
  %nan = arith.constant 0x7FF8000000000000 : f64
  %wide = arith.extui %code : i8 to i16
  %half = arith.shli %wide, %of_half : i16
  %signed = arith.andi %half, %sign : i16
  %magnitude = arith.andi %wide, %most : i16
  %shifted = arith.shli %magnitude, %one_less : i16
  %narrow = arith.ori %shifted, %signed : i16
  %e5m2 = arith.bitcast %half : i16 to f16
  %e4m3 = arith.bitcast %narrow : i16 to f16
  %first = arith.extf %e5m2 : f16 to f64
  %second = arith.extf %e4m3 : f16 to f64
  %scaled = arith.mulf %second, %scale : f64
  %is_nan = arith.cmpi eq, %magnitude, %most : i16
  %third = arith.select %is_nan, %nan, %scaled : f64
  %format = arith.andi %mode, %seven : i64
  %is_e4m3 = arith.cmpi eq, %format, %one : i64
  %number = arith.select %is_e4m3, %third, %first : f64
  return %number : f64
}

// Adds in f64, where it rounds what Arm's instruction does not.
func.func private @emulated.neon.fp8.fdot4.lane.v4f32.v16i8(%c: vector<4xf32>,
    %left: vector<16xi8>, %right: vector<16xi8>, %lane: i32) -> vector<4xf32>
    attributes {llvm.no_inline, no_inline} {
  %a = memref.alloca() : memref<16xi8>
  %b = memref.alloca() : memref<16xi8>
  %sums = memref.alloca() : memref<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %three = arith.constant 3 : i64
  vector.store %left, %a[%c0] : memref<16xi8>, vector<16xi8>
  vector.store %right, %b[%c0] : memref<16xi8>, vector<16xi8>
  vector.store %c, %sums[%c0] : memref<4xf32>, vector<4xf32>
  %mode = func.call @emulated.get.fpmr() : () -> i64
  %other = arith.shrui %mode, %three : i64
  %number = arith.index_castui %lane : i32 to index
  %start = arith.muli %number, %c4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %i4 = arith.muli %i, %c4 : index
    %before = memref.load %sums[%i] : memref<4xf32>
    %wide = arith.extf %before : f32 to f64
    %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %wide) -> (f64) {
      %ak = arith.addi %i4, %k : index
      %bk = arith.addi %start, %k : index
      %ac = memref.load %a[%ak] : memref<16xi8>
      %bc = memref.load %b[%bk] : memref<16xi8>
      %x = func.call @emulated.code(%ac, %mode) : (i8, i64) -> f64
      %y = func.call @emulated.code(%bc, %other) : (i8, i64) -> f64
      %p = arith.mulf %x, %y : f64
      %t = arith.addf %s, %p : f64
      scf.yield %t : f64
    }
    %rounded = arith.truncf %sum : f64 to f32
    memref.store %rounded, %sums[%i] : memref<4xf32>
  }
  %result = vector.load %sums[%c0] : memref<4xf32>, vector<4xf32>
  return %result : vector<4xf32>
}

// A byte of a word, sign-extended if it is signed.
func.func private @emulated.byte(%word: i32, %place: i32, %signed: i1) -> i32
    attributes {no_inline} {
  %up = arith.constant 24 : i32
  %by = arith.subi %up, %place : i32
  %high = arith.shli %word, %by : i32
  %s = arith.shrsi %high, %up : i32
  %u = arith.shrui %high, %up : i32
  %found = arith.select %signed, %s, %u : i32
  return %found : i32
}

func.func private @emulated.bytes(%to: i8, %left: i8, %right: i8, %ls: i1, %rs: i1)
    attributes {no_inline} {
  %tiles = memref.get_global @tiles : memref<8x16x16xi32>
  %c = arith.index_castui %to : i8 to index
  %a = arith.index_castui %left : i8 to index
  %b = arith.index_castui %right : i8 to index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %eight = arith.constant 8 : i32
  scf.for %m = %c0 to %c16 step %c1 {
    scf.for %n = %c0 to %c16 step %c1 {
      scf.for %k = %c0 to %c16 step %c1 {
        %x = memref.load %tiles[%a, %m, %k] : memref<8x16x16xi32>
        %y = memref.load %tiles[%b, %k, %n] : memref<8x16x16xi32>
        scf.for %i = %c0 to %c4 step %c1 {
          %number = arith.index_cast %i : index to i32
          %place = arith.muli %number, %eight : i32
          %xi = func.call @emulated.byte(%x, %place, %ls) : (i32, i32, i1) -> i32
          %yi = func.call @emulated.byte(%y, %place, %rs) : (i32, i32, i1) -> i32
          %product = arith.muli %xi, %yi : i32
          %before = memref.load %tiles[%c, %m, %n] : memref<8x16x16xi32>
          %sum = arith.addi %before, %product : i32
          memref.store %sum, %tiles[%c, %m, %n] : memref<8x16x16xi32>
        }
      }
    }
  }
  return
}

func.func private @emulated.tdpbssd(%to: i8, %left: i8, %right: i8) attributes {no_inline} {
  %ls = arith.constant true
  %rs = arith.constant true
  func.call @emulated.bytes(%to, %left, %right, %ls, %rs) : (i8, i8, i8, i1, i1) -> ()
  return
}

func.func private @emulated.tdpbsud(%to: i8, %left: i8, %right: i8) attributes {no_inline} {
  %ls = arith.constant true
  %rs = arith.constant false
  func.call @emulated.bytes(%to, %left, %right, %ls, %rs) : (i8, i8, i8, i1, i1) -> ()
  return
}

func.func private @emulated.tdpbusd(%to: i8, %left: i8, %right: i8) attributes {no_inline} {
  %ls = arith.constant false
  %rs = arith.constant true
  func.call @emulated.bytes(%to, %left, %right, %ls, %rs) : (i8, i8, i8, i1, i1) -> ()
  return
}

func.func private @emulated.tdpbuud(%to: i8, %left: i8, %right: i8) attributes {no_inline} {
  %ls = arith.constant false
  %rs = arith.constant false
  func.call @emulated.bytes(%to, %left, %right, %ls, %rs) : (i8, i8, i8, i1, i1) -> ()
  return
}

func.func private @emulated.avx512.vpdpbusd.512(%total: vector<16xi32>, %unsigned: vector<64xi8>,
    %signed: vector<64xi8>) -> vector<16xi32> attributes {llvm.no_inline, no_inline} {
  %a = vector.bitcast %unsigned : vector<64xi8> to vector<16xi32>
  %b = vector.bitcast %signed : vector<64xi8> to vector<16xi32>
  %down = arith.constant dense<24> : vector<16xi32>
  %by0 = arith.constant dense<24> : vector<16xi32>
  %a0 = arith.shli %a, %by0 : vector<16xi32>
  %b0 = arith.shli %b, %by0 : vector<16xi32>
  %u0 = arith.shrui %a0, %down : vector<16xi32>
  %s0 = arith.shrsi %b0, %down : vector<16xi32>
  %p0 = arith.muli %u0, %s0 : vector<16xi32>
  %t0 = arith.addi %total, %p0 : vector<16xi32>
  %by1 = arith.constant dense<16> : vector<16xi32>
  %a1 = arith.shli %a, %by1 : vector<16xi32>
  %b1 = arith.shli %b, %by1 : vector<16xi32>
  %u1 = arith.shrui %a1, %down : vector<16xi32>
  %s1 = arith.shrsi %b1, %down : vector<16xi32>
  %p1 = arith.muli %u1, %s1 : vector<16xi32>
  %t1 = arith.addi %t0, %p1 : vector<16xi32>
  %by2 = arith.constant dense<8> : vector<16xi32>
  %a2 = arith.shli %a, %by2 : vector<16xi32>
  %b2 = arith.shli %b, %by2 : vector<16xi32>
  %u2 = arith.shrui %a2, %down : vector<16xi32>
  %s2 = arith.shrsi %b2, %down : vector<16xi32>
  %p2 = arith.muli %u2, %s2 : vector<16xi32>
  %t2 = arith.addi %t1, %p2 : vector<16xi32>
  %by3 = arith.constant dense<0> : vector<16xi32>
  %a3 = arith.shli %a, %by3 : vector<16xi32>
  %b3 = arith.shli %b, %by3 : vector<16xi32>
  %u3 = arith.shrui %a3, %down : vector<16xi32>
  %s3 = arith.shrsi %b3, %down : vector<16xi32>
  %p3 = arith.muli %u3, %s3 : vector<16xi32>
  %t3 = arith.addi %t2, %p3 : vector<16xi32>
  return %t3 : vector<16xi32>
}

func.func private @emulated.avx512.pmaddw.d.512(%left: vector<32xi16>, %right: vector<32xi16>)
    -> vector<16xi32> attributes {llvm.no_inline, no_inline} {
  %by = arith.constant dense<16> : vector<16xi32>
  %a = vector.bitcast %left : vector<32xi16> to vector<16xi32>
  %b = vector.bitcast %right : vector<32xi16> to vector<16xi32>
  %al = arith.shli %a, %by : vector<16xi32>
  %bl = arith.shli %b, %by : vector<16xi32>
  %a0 = arith.shrsi %al, %by : vector<16xi32>
  %b0 = arith.shrsi %bl, %by : vector<16xi32>
  %a1 = arith.shrsi %a, %by : vector<16xi32>
  %b1 = arith.shrsi %b, %by : vector<16xi32>
  %p0 = arith.muli %a0, %b0 : vector<16xi32>
  %p1 = arith.muli %a1, %b1 : vector<16xi32>
  %sum = arith.addi %p0, %p1 : vector<16xi32>
  return %sum : vector<16xi32>
}

func.func private @emulated.avx512.vpdpbusd.256(%total: vector<8xi32>, %unsigned: vector<32xi8>,
    %signed: vector<32xi8>) -> vector<8xi32> attributes {llvm.no_inline, no_inline} {
  %a = vector.bitcast %unsigned : vector<32xi8> to vector<8xi32>
  %b = vector.bitcast %signed : vector<32xi8> to vector<8xi32>
  %down = arith.constant dense<24> : vector<8xi32>
  %by0 = arith.constant dense<24> : vector<8xi32>
  %a0 = arith.shli %a, %by0 : vector<8xi32>
  %b0 = arith.shli %b, %by0 : vector<8xi32>
  %u0 = arith.shrui %a0, %down : vector<8xi32>
  %s0 = arith.shrsi %b0, %down : vector<8xi32>
  %p0 = arith.muli %u0, %s0 : vector<8xi32>
  %t0 = arith.addi %total, %p0 : vector<8xi32>
  %by1 = arith.constant dense<16> : vector<8xi32>
  %a1 = arith.shli %a, %by1 : vector<8xi32>
  %b1 = arith.shli %b, %by1 : vector<8xi32>
  %u1 = arith.shrui %a1, %down : vector<8xi32>
  %s1 = arith.shrsi %b1, %down : vector<8xi32>
  %p1 = arith.muli %u1, %s1 : vector<8xi32>
  %t1 = arith.addi %t0, %p1 : vector<8xi32>
  %by2 = arith.constant dense<8> : vector<8xi32>
  %a2 = arith.shli %a, %by2 : vector<8xi32>
  %b2 = arith.shli %b, %by2 : vector<8xi32>
  %u2 = arith.shrui %a2, %down : vector<8xi32>
  %s2 = arith.shrsi %b2, %down : vector<8xi32>
  %p2 = arith.muli %u2, %s2 : vector<8xi32>
  %t2 = arith.addi %t1, %p2 : vector<8xi32>
  %by3 = arith.constant dense<0> : vector<8xi32>
  %a3 = arith.shli %a, %by3 : vector<8xi32>
  %b3 = arith.shli %b, %by3 : vector<8xi32>
  %u3 = arith.shrui %a3, %down : vector<8xi32>
  %s3 = arith.shrsi %b3, %down : vector<8xi32>
  %p3 = arith.muli %u3, %s3 : vector<8xi32>
  %t3 = arith.addi %t2, %p3 : vector<8xi32>
  return %t3 : vector<8xi32>
}

func.func private @emulated.avx2.pmadd.wd(%left: vector<16xi16>, %right: vector<16xi16>)
    -> vector<8xi32> attributes {llvm.no_inline, no_inline} {
  %by = arith.constant dense<16> : vector<8xi32>
  %a = vector.bitcast %left : vector<16xi16> to vector<8xi32>
  %b = vector.bitcast %right : vector<16xi16> to vector<8xi32>
  %al = arith.shli %a, %by : vector<8xi32>
  %bl = arith.shli %b, %by : vector<8xi32>
  %a0 = arith.shrsi %al, %by : vector<8xi32>
  %b0 = arith.shrsi %bl, %by : vector<8xi32>
  %a1 = arith.shrsi %a, %by : vector<8xi32>
  %b1 = arith.shrsi %b, %by : vector<8xi32>
  %p0 = arith.muli %a0, %b0 : vector<8xi32>
  %p1 = arith.muli %a1, %b1 : vector<8xi32>
  %sum = arith.addi %p0, %p1 : vector<8xi32>
  return %sum : vector<8xi32>
}
