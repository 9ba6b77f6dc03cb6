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
