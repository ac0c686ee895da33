// RUN: fp8-opt %s --plan-static-memory=min-bytes=64 --split-input-file | filecheck %s
// RUN: fp8-opt %s --plan-static-memory --split-input-file | filecheck %s --check-prefix=LARGE

// The third buffer takes the place of the first, the fourth what is left of it and more: the second
// is still in use. What is freed elsewhere, or never, stays as it is.
// CHECK-LABEL: func.func @reused(
// CHECK:         %[[ALL:.*]] = memref.alloc() {alignment = 64 : i64} : memref<448xi8>
// CHECK:         %[[A:.*]] = memref.view %[[ALL]][%c0{{.*}}][] : memref<448xi8> to memref<2x16xf32>
// CHECK:         %[[B:.*]] = memref.view %[[ALL]][%c128{{.*}}][] : memref<448xi8> to memref<3xi1>
// CHECK:         call @two(%[[A]], %[[B]])
// CHECK-NOT:     memref.dealloc
// CHECK:         %[[C:.*]] = memref.view %[[ALL]][%c0{{.*}}][] : memref<448xi8> to memref<8xf64>
// CHECK:         %[[D:.*]] = memref.view %[[ALL]][%c192{{.*}}][] : memref<448xi8> to memref<256xi8>
// CHECK:         %[[SHORT:.*]] = memref.alloc() : memref<1xi1, strided<[2]>>
// CHECK:         %[[SOME:.*]] = memref.alloc() : memref<64xi8>
// CHECK:         call @five(%[[C]], %[[D]], %[[SHORT]], %[[SOME]], %[[B]])
// CHECK:         scf.if %arg0 {
// CHECK:           memref.dealloc %[[SOME]]
// CHECK:         memref.dealloc %[[SHORT]]
// CHECK:         memref.dealloc %[[ALL]]
// CHECK-NEXT:    return
// LARGE-LABEL: func.func @reused(
// LARGE-NOT:     memref.view
func.func private @two(memref<2x16xf32>, memref<3xi1>)
func.func private @five(memref<8xf64>, memref<256xi8>, memref<1xi1, strided<[2]>>, memref<64xi8>, memref<3xi1>)
func.func @reused(%condition: i1) {
  %a = memref.alloc() : memref<2x16xf32>
  %b = memref.alloc() : memref<3xi1>
  func.call @two(%a, %b) : (memref<2x16xf32>, memref<3xi1>) -> ()
  memref.dealloc %a : memref<2x16xf32>
  %c = memref.alloc() : memref<8xf64>
  %d = memref.alloc() : memref<256xi8>
  %e = memref.alloc() : memref<1xi1, strided<[2]>>
  %f = memref.alloc() : memref<64xi8>
  func.call @five(%c, %d, %e, %f, %b) : (memref<8xf64>, memref<256xi8>, memref<1xi1, strided<[2]>>, memref<64xi8>, memref<3xi1>) -> ()
  memref.dealloc %b : memref<3xi1>
  memref.dealloc %c : memref<8xf64>
  memref.dealloc %d : memref<256xi8>
  scf.if %condition {
    memref.dealloc %f : memref<64xi8>
  }
  memref.dealloc %e : memref<1xi1, strided<[2]>>
  return
}

// -----

// One buffer has nobody to share with, and what is returned is not freed.
// CHECK-LABEL: func.func @alone(
// CHECK-NOT:     memref.view
func.func private @use(memref<64xf32>, memref<64xf32>)
func.func @alone() -> memref<64xf32> {
  %a = memref.alloc() : memref<64xf32>
  %b = memref.alloc() : memref<64xf32>
  func.call @use(%a, %b) : (memref<64xf32>, memref<64xf32>) -> ()
  memref.dealloc %a : memref<64xf32>
  return %b : memref<64xf32>
}
