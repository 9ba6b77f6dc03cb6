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
  %1 = arith.constant 1 : index
  %2 = arith.addi %1, %0 : index
  %3 = scf.for %k = %0 to %2 step %1 iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0>) {
    %4 = "ckks.negate"(%v) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
    scf.yield %4 : !ckks.ciphertext<depth = 0>
  }
  func.return %3 : !ckks.ciphertext<depth = 0>
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}) -> !ckks.ciphertext<depth = 0> {
// CHECK-NEXT: %0 = "ckks.negate"(%x) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
// CHECK-NEXT: func.return %0 : !ckks.ciphertext<depth = 0>
// -----
// RUN: UnrollControlFlowPass()
func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext<depth = 0> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = scf.for %k = %0 to %n step %1 iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0>) {
    %9 = "ckks.negate"(%v) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
    scf.yield %9 : !ckks.ciphertext<depth = 0>
  }
  func.return %2 : !ckks.ciphertext<depth = 0>
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext<depth = 0> {
// CHECK-NEXT: %0 = arith.constant 0 : index
// CHECK-NEXT: %1 = arith.constant 1 : index
// CHECK-NEXT: %2 = scf.for %k = %0 to %n step %1 iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0>) {
// CHECK-NEXT: %3 = "ckks.negate"(%v) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
// CHECK-NEXT: scf.yield %3 : !ckks.ciphertext<depth = 0>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %2 : !ckks.ciphertext<depth = 0>
// CHECK-NEXT: }
// -----
// RUN: UnrollControlFlowPass()
func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext<depth = 0> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 0 : index
  %2 = scf.for %k = %0 to %1 step %1 iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0>) {
    %9 = "ckks.negate"(%v) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
    scf.yield %9 : !ckks.ciphertext<depth = 0>
  }
  func.return %2 : !ckks.ciphertext<depth = 0>
}
// CHECK: PassError: UnrollControlFlowPass: operation 2 (scf.for): it goes from 0 to 0 by 0. A loop has a step above 0 and at the most 10000 rounds. Correct its bounds.
