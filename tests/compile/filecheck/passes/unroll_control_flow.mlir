// RUN: UnrollControlFlowPass()
func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}) -> !ckks.ciphertext<depth = 0> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 2 : index
  %2 = arith.constant 1 : index
  %3 = scf.for %k = %0 to %1 step %2 iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0>) {
    %4 = "ckks.negate"(%v) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
    scf.yield %4 : !ckks.ciphertext<depth = 0>
  }
  func.return %3 : !ckks.ciphertext<depth = 0>
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}) -> !ckks.ciphertext<depth = 0> {
// CHECK-NEXT: %0 = "ckks.negate"(%x) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
// CHECK-NEXT: %1 = "ckks.negate"(%0) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
// CHECK-NEXT: func.return %1 : !ckks.ciphertext<depth = 0>
// -----
// RUN: UnrollControlFlowPass()
func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}) -> !ckks.ciphertext<depth = 0> {
  %0 = arith.constant false
  %1 = scf.if %0 -> (!ckks.ciphertext<depth = 0>) {
    %2 = "ckks.negate"(%x) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
    scf.yield %2 : !ckks.ciphertext<depth = 0>
  } else {
    scf.yield %x : !ckks.ciphertext<depth = 0>
  }
  func.return %1 : !ckks.ciphertext<depth = 0>
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}) -> !ckks.ciphertext<depth = 0> {
// CHECK-NEXT: func.return %x : !ckks.ciphertext<depth = 0>
// -----
// RUN: UnrollControlFlowPass()
func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}) -> !ckks.ciphertext<depth = 0> {
  %0 = arith.constant 0 : index
  %1 = arith.addi %0, %0 : index
  %2 = arith.constant 1 : index
  %3 = scf.for %k = %0 to %1 step %2 iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0>) {
    %4 = "ckks.negate"(%v) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
    scf.yield %4 : !ckks.ciphertext<depth = 0>
  }
  func.return %3 : !ckks.ciphertext<depth = 0>
}
// CHECK: PassError: UnrollControlFlowPass: operation 3 (scf.for): its last is no constant. Bounds and conditions are public and known when a Program is specialised. Make it a static argument, or write arith.constant.
