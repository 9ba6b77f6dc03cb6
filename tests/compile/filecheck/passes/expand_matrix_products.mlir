// RUN: ExpandMatrixProductsPass()
func.func @f(%x: !semantic.tensor<role = encrypted, slots = 4> {core.name = "x"}) -> !semantic.tensor {
  %0 = "core.constant"() <{value = [1.0 : f64, 2.0 : f64, 3.0 : f64, 4.0 : f64, 5.0 : f64, 6.0 : f64, 7.0 : f64, 8.0 : f64]}> : () -> !semantic.tensor<role = message, slots = 8>
  %1 = "semantic.matrix_product"(%x, %0) <{rows = 4 : i64, columns = 2 : i64}> : (!semantic.tensor<role = encrypted, slots = 4>, !semantic.tensor<role = message, slots = 8>) -> !semantic.tensor
  func.return %1 : !semantic.tensor
}
// CHECK: func.func @f(%x: !semantic.tensor<role = encrypted, slots = 4> {core.name = "x"}) -> !semantic.tensor<slots = 4> {
// CHECK-NEXT: %0 = "core.constant"() <{value = [1.000000e+00 : f64, 2.000000e+00 : f64, 3.000000e+00 : f64, 4.000000e+00 : f64, 5.000000e+00 : f64, 6.000000e+00 : f64, 7.000000e+00 : f64, 8.000000e+00 : f64]}> : () -> !semantic.tensor<role = message, slots = 8>
// CHECK-NEXT: %1 = "core.constant"() <{value = [1.000000e+00 : f64, 4.000000e+00 : f64, 5.000000e+00 : f64, 8.000000e+00 : f64]}> : () -> !semantic.tensor<role = message, slots = 4>
// CHECK-NEXT: %2 = "semantic.multiply"(%x, %1) : (!semantic.tensor<role = encrypted, slots = 4>, !semantic.tensor<role = message, slots = 4>) -> !semantic.tensor<slots = 4>
// CHECK-NEXT: %3 = "semantic.roll"(%x) <{step = -1 : i64}> : (!semantic.tensor<role = encrypted, slots = 4>) -> !semantic.tensor<slots = 4>
// CHECK-NEXT: %4 = "core.constant"() <{value = [3.000000e+00 : f64, 6.000000e+00 : f64, 7.000000e+00 : f64, 2.000000e+00 : f64]}> : () -> !semantic.tensor<role = message, slots = 4>
// CHECK-NEXT: %5 = "semantic.multiply"(%3, %4) : (!semantic.tensor<slots = 4>, !semantic.tensor<role = message, slots = 4>) -> !semantic.tensor<slots = 4>
// CHECK-NEXT: %6 = "semantic.add"(%2, %5) : (!semantic.tensor<slots = 4>, !semantic.tensor<slots = 4>) -> !semantic.tensor<slots = 4>
// CHECK-NEXT: %7 = "semantic.roll"(%6) <{step = -2 : i64}> : (!semantic.tensor<slots = 4>) -> !semantic.tensor<slots = 4>
// CHECK-NEXT: %8 = "semantic.add"(%6, %7) : (!semantic.tensor<slots = 4>, !semantic.tensor<slots = 4>) -> !semantic.tensor<slots = 4>
// CHECK-NEXT: %9 = "semantic.bound_by"(%8, %x) <{factor = 20.000000000000021 : f64}> : (!semantic.tensor<slots = 4>, !semantic.tensor<role = encrypted, slots = 4>) -> !semantic.tensor<slots = 4>
// CHECK-NEXT: func.return %9 : !semantic.tensor<slots = 4>
// -----
// RUN: ExpandMatrixProductsPass()
func.func @f(%x: !semantic.tensor<role = encrypted, slots = 4> {core.name = "x"}) -> !semantic.tensor {
  %0 = "core.constant"() <{value = [1.0 : f64, 2.0 : f64, 3.0 : f64, 4.0 : f64, 5.0 : f64, 6.0 : f64, 7.0 : f64, 8.0 : f64]}> : () -> !semantic.tensor<role = message, slots = 8>
  %1 = "semantic.matrix_product"(%x, %0) <{rows = 8 : i64, columns = 1 : i64}> : (!semantic.tensor<role = encrypted, slots = 4>, !semantic.tensor<role = message, slots = 8>) -> !semantic.tensor
  func.return %1 : !semantic.tensor
}
// CHECK: PassError: ExpandMatrixProductsPass: operation 1 (semantic.matrix_product): the matrix is [8, 1], the vector has a period of 4, the ring 512 slots. A period is a power of two that holds a row, and columns fit the slots. Pad the vector, and say encrypted(slots=...) with its period.
