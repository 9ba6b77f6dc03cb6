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
// -----
// RUN: ReuseValuesPass()
func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext<depth = 0> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = scf.for %k = %0 to %n step %1 iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0>) {
    %8 = "ckks.negate"(%x) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
    %9 = "ckks.add"(%v, %8) : (!ckks.ciphertext<depth = 0>, !ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
    scf.yield %9 : !ckks.ciphertext<depth = 0>
  }
  func.return %2 : !ckks.ciphertext<depth = 0>
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext<depth = 0> {
// CHECK-NEXT: %0 = arith.constant 0 : index
// CHECK-NEXT: %1 = arith.constant 1 : index
// CHECK-NEXT: %2 = "ckks.negate"(%x) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
// CHECK-NEXT: %3 = scf.for %k = %0 to %n step %1 iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0>) {
// CHECK-NEXT: %4 = "ckks.add"(%v, %2) : (!ckks.ciphertext<depth = 0>, !ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
// CHECK-NEXT: scf.yield %4 : !ckks.ciphertext<depth = 0>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %3 : !ckks.ciphertext<depth = 0>
// CHECK-NEXT: }
// -----
// RUN: ReuseValuesPass()
func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}, %c: i1 {core.name = "c"}) -> !ckks.ciphertext<depth = 0> {
  %0 = scf.if %c -> (!ckks.ciphertext<depth = 0>) {
    %9 = "ckks.negate"(%x) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
    scf.yield %9 : !ckks.ciphertext<depth = 0>
  } else {
    %9 = "ckks.negate"(%x) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
    scf.yield %9 : !ckks.ciphertext<depth = 0>
  }
  func.return %0 : !ckks.ciphertext<depth = 0>
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}, %c: i1 {core.name = "c"}) -> !ckks.ciphertext<depth = 0> {
// CHECK-NEXT: %0 = scf.if %c -> (!ckks.ciphertext<depth = 0>) {
// CHECK-NEXT: %1 = "ckks.negate"(%x) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
// CHECK-NEXT: scf.yield %1 : !ckks.ciphertext<depth = 0>
// CHECK-NEXT: } else {
// CHECK-NEXT: %2 = "ckks.negate"(%x) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
// CHECK-NEXT: scf.yield %2 : !ckks.ciphertext<depth = 0>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %0 : !ckks.ciphertext<depth = 0>
// CHECK-NEXT: }
