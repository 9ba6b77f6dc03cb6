// RUN: ExpandPolynomialsPass()
func.func @f(%x: !semantic.tensor<role = encrypted, slots = 4> {core.name = "x"}) -> !semantic.tensor {
  %0 = "semantic.polynomial"(%x) <{coefficients = [0.5 : f64, 0.25 : f64, 0.0 : f64, -0.125 : f64, 1.0 : f64]}> : (!semantic.tensor<role = encrypted, slots = 4>) -> !semantic.tensor
  func.return %0 : !semantic.tensor
}
// CHECK: func.func @f(%x: !semantic.tensor<role = encrypted, slots = 4> {core.name = "x"}) -> !semantic.tensor<slots = 4> {
// CHECK-NEXT: %0 = "semantic.multiply"(%x, %x) : (!semantic.tensor<role = encrypted, slots = 4>, !semantic.tensor<role = encrypted, slots = 4>) -> !semantic.tensor<slots = 4>
// CHECK-NEXT: %1 = "semantic.multiply"(%0, %x) : (!semantic.tensor<slots = 4>, !semantic.tensor<role = encrypted, slots = 4>) -> !semantic.tensor<slots = 4>
// CHECK-NEXT: %2 = "semantic.multiply_scalar"(%1) <{value = -1.250000e-01 : f64}> : (!semantic.tensor<slots = 4>) -> !semantic.tensor<slots = 4>
// CHECK-NEXT: %3 = "semantic.add_scalar"(%2) <{value = 5.000000e-01 : f64}> : (!semantic.tensor<slots = 4>) -> !semantic.tensor<slots = 4>
// CHECK-NEXT: %4 = "semantic.multiply_scalar"(%x) <{value = 2.500000e-01 : f64}> : (!semantic.tensor<role = encrypted, slots = 4>) -> !semantic.tensor<slots = 4>
// CHECK-NEXT: %5 = "semantic.add"(%4, %3) : (!semantic.tensor<slots = 4>, !semantic.tensor<slots = 4>) -> !semantic.tensor<slots = 4>
// CHECK-NEXT: %6 = "semantic.multiply"(%0, %0) : (!semantic.tensor<slots = 4>, !semantic.tensor<slots = 4>) -> !semantic.tensor<slots = 4>
// CHECK-NEXT: %7 = "semantic.add"(%6, %5) : (!semantic.tensor<slots = 4>, !semantic.tensor<slots = 4>) -> !semantic.tensor<slots = 4>
// CHECK-NEXT: func.return %7 : !semantic.tensor<slots = 4>
