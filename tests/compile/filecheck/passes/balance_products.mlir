// RUN: BalanceProductsPass()
// RUN: EliminateDeadValuesPass()
// RUN: ReuseValuesPass()
func.func @f(%x: !semantic.tensor<role = encrypted, slots = 4> {core.name = "x"}) -> !semantic.tensor {
  %0 = "semantic.multiply"(%x, %x) : (!semantic.tensor<role = encrypted, slots = 4>, !semantic.tensor<role = encrypted, slots = 4>) -> !semantic.tensor
  %1 = "semantic.multiply"(%0, %x) : (!semantic.tensor, !semantic.tensor<role = encrypted, slots = 4>) -> !semantic.tensor
  %2 = "semantic.multiply"(%1, %x) : (!semantic.tensor, !semantic.tensor<role = encrypted, slots = 4>) -> !semantic.tensor
  func.return %2 : !semantic.tensor
}
// CHECK: func.func @f(%x: !semantic.tensor<role = encrypted, slots = 4> {core.name = "x"}) -> !semantic.tensor<slots = 4> {
// CHECK-NEXT: %0 = "semantic.multiply"(%x, %x) : (!semantic.tensor<role = encrypted, slots = 4>, !semantic.tensor<role = encrypted, slots = 4>) -> !semantic.tensor<slots = 4>
// CHECK-NEXT: %1 = "semantic.multiply"(%0, %0) : (!semantic.tensor<slots = 4>, !semantic.tensor<slots = 4>) -> !semantic.tensor<slots = 4>
// CHECK-NEXT: func.return %1 : !semantic.tensor<slots = 4>
// -----
// RUN: BalanceProductsPass()
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !semantic.tensor<role = encrypted, slots = 4> {core.name = "x"}) -> !semantic.tensor {
  %0 = "semantic.multiply_scalar"(%x) <{value = 0.5 : f64}> : (!semantic.tensor<role = encrypted, slots = 4>) -> !semantic.tensor
  %1 = "semantic.multiply"(%0, %x) : (!semantic.tensor, !semantic.tensor<role = encrypted, slots = 4>) -> !semantic.tensor
  %2 = "semantic.multiply"(%1, %x) : (!semantic.tensor, !semantic.tensor<role = encrypted, slots = 4>) -> !semantic.tensor
  func.return %2 : !semantic.tensor
}
// CHECK: func.func @f(%x: !semantic.tensor<role = encrypted, slots = 4> {core.name = "x"}) -> !semantic.tensor<slots = 4> {
// CHECK-NEXT: %0 = "semantic.multiply_scalar"(%x) <{value = 5.000000e-01 : f64}> : (!semantic.tensor<role = encrypted, slots = 4>) -> !semantic.tensor<slots = 4>
// CHECK-NEXT: %1 = "semantic.multiply"(%x, %x) : (!semantic.tensor<role = encrypted, slots = 4>, !semantic.tensor<role = encrypted, slots = 4>) -> !semantic.tensor<slots = 4>
// CHECK-NEXT: %2 = "semantic.multiply"(%0, %1) : (!semantic.tensor<slots = 4>, !semantic.tensor<slots = 4>) -> !semantic.tensor<slots = 4>
// CHECK-NEXT: func.return %2 : !semantic.tensor<slots = 4>
