gpu.module @kernels {
  gpu.func @narrow(%x: memref<4096xf32>, %q: memref<4096xf8E4M3FN>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %thread = gpu.thread_id x
    %four = arith.constant 4 : index
    %at = arith.muli %thread, %four : index
    %v = vector.load %x[%at] {alignment = 16 : i64} : memref<4096xf32>, vector<4xf32>
    %c = arith.truncf %v : vector<4xf32> to vector<4xf8E4M3FN>
    vector.store %c, %q[%at] {alignment = 4 : i64} : memref<4096xf8E4M3FN>, vector<4xf8E4M3FN>
    gpu.return
  }
}
