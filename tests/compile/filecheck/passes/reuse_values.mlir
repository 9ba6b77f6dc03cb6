// RUN: ReuseValuesPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.rotate"(%x) <{step = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %1 = "ckks.rotate"(%x) <{step = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %2 = "ckks.rotate"(%x) <{step = 3 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %3 = "ckks.add"(%0, %1) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  %4 = "ckks.add"(%3, %2) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  func.return %4 : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {
// CHECK-NEXT: %0 = "ckks.rotate"(%x) <{step = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: %1 = "ckks.rotate"(%x) <{step = 3 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: %2 = "ckks.add"(%0, %0) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: %3 = "ckks.add"(%2, %1) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: func.return %3 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
