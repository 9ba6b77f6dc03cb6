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
// -----
// RUN: BalanceProductsPass()
func.func @f(%x: !semantic.tensor<role = encrypted> {core.name = "x"}, %n: index {core.name = "n"}) -> !semantic.tensor<role = encrypted> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %6 = "semantic.multiply"(%x, %x) : (!semantic.tensor<role = encrypted>, !semantic.tensor<role = encrypted>) -> !semantic.tensor
  %8 = "semantic.multiply"(%6, %x) : (!semantic.tensor, !semantic.tensor<role = encrypted>) -> !semantic.tensor
  %2 = scf.for %k = %0 to %n step %1 iter_args(%v = %x) -> (!semantic.tensor<role = encrypted>) {
    %9 = "semantic.multiply"(%8, %x) : (!semantic.tensor, !semantic.tensor<role = encrypted>) -> !semantic.tensor
    %7 = "core.cast"(%9) : (!semantic.tensor) -> !semantic.tensor<role = encrypted>
    scf.yield %7 : !semantic.tensor<role = encrypted>
  }
  func.return %2 : !semantic.tensor<role = encrypted>
}
// What stands in front of a loop is computed there.
// CHECK: %0 = arith.constant 0 : index
// CHECK: %1 = arith.constant 1 : index
// CHECK: %2 = "semantic.multiply"(%x, %x)
// CHECK: %3 = "semantic.multiply"(%2, %x)
// CHECK: %4 = scf.for %k = %0 to %n step %1 iter_args(%v = %x)
// CHECK: %5 = "semantic.multiply"(%3, %x)
// CHECK: %6 = "core.cast"(%5)
// CHECK: scf.yield %6
// CHECK: func.return %4
