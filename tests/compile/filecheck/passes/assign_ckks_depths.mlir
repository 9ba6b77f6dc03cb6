// RUN: AssignCkksDepthsPass(entry_depth=1)
func.func @f(%x: !ckks.ciphertext {core.name = "x"}, %y: !ckks.ciphertext<depth = 2> {core.name = "y"}, %p: !ckks.plaintext {core.name = "p"}) -> (!ckks.ciphertext, !ckks.ciphertext) {
  %0 = "ckks.rescale"(%x) : (!ckks.ciphertext) -> !ckks.ciphertext
  %1 = "ckks.add"(%0, %y) : (!ckks.ciphertext, !ckks.ciphertext<depth = 2>) -> !ckks.ciphertext
  %2 = "ckks.add_plaintext"(%x, %p) : (!ckks.ciphertext, !ckks.plaintext) -> !ckks.ciphertext
  func.return %1, %2 : !ckks.ciphertext, !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 1> {core.name = "x"}, %y: !ckks.ciphertext<depth = 2> {core.name = "y"}, %p: !ckks.plaintext<depth = 1> {core.name = "p"}) -> (!ckks.ciphertext<depth = 2>, !ckks.ciphertext<depth = 1>) {
// CHECK-NEXT: %0 = "ckks.rescale"(%x) : (!ckks.ciphertext<depth = 1>) -> !ckks.ciphertext<depth = 2>
// CHECK-NEXT: %1 = "ckks.add"(%0, %y) : (!ckks.ciphertext<depth = 2>, !ckks.ciphertext<depth = 2>) -> !ckks.ciphertext<depth = 2>
// CHECK-NEXT: %2 = "ckks.add_plaintext"(%x, %p) : (!ckks.ciphertext<depth = 1>, !ckks.plaintext<depth = 1>) -> !ckks.ciphertext<depth = 1>
// CHECK-NEXT: func.return %1, %2 : !ckks.ciphertext<depth = 2>, !ckks.ciphertext<depth = 1>
// -----
// RUN: AssignCkksDepthsPass(entry_depth=4)
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
  func.return %x : !ckks.ciphertext
}
// CHECK: PassError: AssignCkksDepthsPass: operation 0 (inputs): entry_depth is 4, max_depth is 3. Depth counts up from 0 to max_depth. Pass a depth from 0 to 3.
// -----
// RUN: AssignCkksDepthsPass(entry_depth=2)
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.rescale"(%x) : (!ckks.ciphertext) -> !ckks.ciphertext
  %1 = "ckks.rescale"(%0) : (!ckks.ciphertext) -> !ckks.ciphertext
  func.return %1 : !ckks.ciphertext
}
// CHECK: DepthExhaustedError: operation 1 (ckks.rescale): the ciphertext is at depth 3, the largest depth is 3. Every rescale drops one prime and the base prime stays. Choose a preset with more depth, such as slots4096_scale30_depth4_int64, or rescale less.
// -----
// RUN: AssignCkksDepthsPass()
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext<depth = 1> {
  %0 = "ckks.negate"(%x) : (!ckks.ciphertext) -> !ckks.ciphertext<depth = 1>
  func.return %0 : !ckks.ciphertext<depth = 1>
}
// CHECK: PassError: operation 0 (ckks.negate): the result's depth is 1, the operands give 0. A type says what the operation gives. Correct the text, or leave the axis out of it.
// -----
// RUN: AssignCkksDepthsPass()
func.func @f(%x: !ckks.ciphertext {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = scf.for %k = %0 to %n step %1 iter_args(%v = %x) -> (!ckks.ciphertext) {
    %9 = "ckks.negate"(%v) : (!ckks.ciphertext) -> !ckks.ciphertext
    scf.yield %9 : !ckks.ciphertext
  }
  func.return %2 : !ckks.ciphertext
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
// RUN: AssignCkksDepthsPass()
func.func @f(%x: !ckks.ciphertext {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = scf.for %k = %0 to %n step %1 iter_args(%v = %x) -> (!ckks.ciphertext) {
    %9 = "ckks.rescale"(%v) : (!ckks.ciphertext) -> !ckks.ciphertext
    scf.yield %9 : !ckks.ciphertext
  }
  func.return %2 : !ckks.ciphertext
}
// CHECK: StateError: operation 2 (scf.for): it carries depth 0 into a round and depth 1 out of it. A loop is linked once for all its rounds, so what it carries keeps its state. Give it a constant bound, so that UnrollControlFlowPass writes each round out, or bring the value back inside the loop.
