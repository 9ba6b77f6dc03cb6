// RUN: OpenStatesPass()
// RUN: PlaceNttTransitionsPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2> {core.name = "x"}, %y: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "y"}) -> !ckks.ciphertext {
  %0 = "ckks.multiply"(%x, %y) : (!ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2>, !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %1 = "ckks.add"(%0, %0) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  func.return %1 : !ckks.ciphertext
}
// CHECK: builtin.module attributes {ckks.states = "open"} {
// CHECK-NEXT: func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2> {core.name = "x"}, %y: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "y"}) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3> {
// CHECK-NEXT: %x_1 = "ckks.coefficient_to_ntt"(%x) : (!ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2>) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: %0 = "ckks.multiply"(%x_1, %y) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>
// CHECK-NEXT: %1 = "ckks.add"(%0, %0) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>, !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>
// CHECK-NEXT: func.return %1 : !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>
// -----
// RUN: OpenStatesPass()
// RUN: PlaceNttTransitionsPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2> {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.negate"(%x) : (!ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: builtin.module attributes {ckks.states = "open"} {
// CHECK-NEXT: func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2> {core.name = "x"}) -> !ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2> {
// CHECK-NEXT: %0 = "ckks.negate"(%x) : (!ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2>) -> !ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2>
// CHECK-NEXT: func.return %0 : !ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2>
