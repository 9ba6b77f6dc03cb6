// RUN: LowerSemanticToLogicalPass()
func.func @f(%x: !semantic.tensor<role = encrypted, slots = 16> {core.name = "x"}, %m: !semantic.tensor<role = message, slots = 8> {core.name = "m"}, %p: !semantic.tensor<role = plaintext> {core.name = "p"}) -> (!semantic.tensor<slots = 16>, !semantic.tensor) {
  %0 = "core.constant"() <{value = [0.5 : f64, -1.0 : f64]}> : () -> !semantic.tensor<role = message, slots = 2>
  %1 = "semantic.multiply"(%x, %0) : (!semantic.tensor<role = encrypted, slots = 16>, !semantic.tensor<role = message, slots = 2>) -> !semantic.tensor<slots = 16>
  %2 = "semantic.roll"(%1) <{step = 3 : i64}> : (!semantic.tensor<slots = 16>) -> !semantic.tensor<slots = 16>
  %3 = "semantic.add"(%m, %p) : (!semantic.tensor<role = message, slots = 8>, !semantic.tensor<role = plaintext>) -> !semantic.tensor
  func.return %2, %3 : !semantic.tensor<slots = 16>, !semantic.tensor
}
// CHECK: func.func @f(%x: !logical.encrypted<slots = 16> {core.name = "x"}, %m: !logical.message<slots = 8> {core.name = "m"}, %p: !logical.plaintext {core.name = "p"}) -> (!logical.encrypted<slots = 16>, !logical.plaintext) {
// CHECK-NEXT: %0 = "core.constant"() <{value = [5.000000e-01 : f64, -1.000000e+00 : f64]}> : () -> !logical.message<slots = 2>
// CHECK-NEXT: %1 = "logical.multiply"(%x, %0) : (!logical.encrypted<slots = 16>, !logical.message<slots = 2>) -> !logical.encrypted<slots = 16>
// CHECK-NEXT: %2 = "logical.roll"(%1) <{step = 3 : i64}> : (!logical.encrypted<slots = 16>) -> !logical.encrypted<slots = 16>
// CHECK-NEXT: %3 = "logical.add"(%m, %p) : (!logical.message<slots = 8>, !logical.plaintext) -> !logical.plaintext
// CHECK-NEXT: func.return %2, %3 : !logical.encrypted<slots = 16>, !logical.plaintext
// -----
// RUN: LowerSemanticToLogicalPass()
func.func @f(%x: !semantic.tensor {core.name = "x"}) -> !semantic.tensor {
  %0 = "semantic.negate"(%x) : (!semantic.tensor) -> !semantic.tensor
  func.return %0 : !semantic.tensor
}
// CHECK: PassError: LowerSemanticToLogicalPass: operation 0 (input x): its type names no role. What enters a Program is encrypted, plaintext, message. Write its type as !semantic.tensor<role = encrypted>.
// -----
// RUN: LowerSemanticToLogicalPass()
func.func @f(%x: !semantic.tensor<role = encrypted> {core.name = "x"}, %c: i1 {core.name = "c"}) -> !semantic.tensor<role = encrypted> {
  %0 = scf.if %c -> (!semantic.tensor<role = encrypted>) {
    %9 = "semantic.negate"(%x) : (!semantic.tensor<role = encrypted>) -> !semantic.tensor
    %7 = "core.cast"(%9) : (!semantic.tensor) -> !semantic.tensor<role = encrypted>
    scf.yield %7 : !semantic.tensor<role = encrypted>
  } else {
    scf.yield %x : !semantic.tensor<role = encrypted>
  }
  func.return %0 : !semantic.tensor<role = encrypted>
}
// CHECK: func.func @f(%x: !logical.encrypted {core.name = "x"}, %c: i1 {core.name = "c"}) -> !logical.encrypted {
// CHECK-NEXT: %0 = scf.if %c -> (!logical.encrypted) {
// CHECK-NEXT: %1 = "logical.negate"(%x) : (!logical.encrypted) -> !logical.encrypted
// CHECK-NEXT: scf.yield %1 : !logical.encrypted
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %x : !logical.encrypted
// CHECK-NEXT: }
// CHECK-NEXT: func.return %0 : !logical.encrypted
// CHECK-NEXT: }
// -----
// RUN: LowerSemanticToLogicalPass()
func.func @f(%x: !semantic.tensor<role = message> {core.name = "x"}, %y: !semantic.tensor<role = encrypted> {core.name = "y"}, %n: index {core.name = "n"}) -> !semantic.tensor<role = message> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = scf.for %k = %0 to %n step %1 iter_args(%v = %x) -> (!semantic.tensor<role = message>) {
    %9 = "semantic.add"(%v, %x) : (!semantic.tensor<role = message>, !semantic.tensor<role = message>) -> !semantic.tensor
    %7 = "core.cast"(%y) : (!semantic.tensor<role = encrypted>) -> !semantic.tensor<role = message>
    scf.yield %7 : !semantic.tensor<role = message>
  }
  func.return %2 : !semantic.tensor<role = message>
}
// CHECK: StateError: operation 2 (scf.for): it carries a value of type logical.message into a round and a value of type logical.encrypted out of it. A loop is linked once for all its rounds, so what it carries keeps its state. Give it a constant bound, so that UnrollControlFlowPass writes each round out, or bring the value back inside the loop.
