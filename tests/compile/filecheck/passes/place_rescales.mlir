// RUN: OpenStatesPass()
// RUN: PlaceRescalesPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %y: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "y"}) -> !ckks.ciphertext {
  %0 = "ckks.multiply"(%x, %y) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %1 = "ckks.square"(%x) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %2 = "ckks.add"(%0, %1) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  func.return %2 : !ckks.ciphertext
}
// CHECK: builtin.module attributes {ckks.states = "open"} {
// CHECK-NEXT: func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %y: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "y"}) -> !ckks.ciphertext<depth = 1, polynomial_domain = ntt, components = 3> {
// CHECK-NEXT: %0 = "ckks.multiply"(%x, %y) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>
// CHECK-NEXT: %1 = "ckks.square"(%x) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>
// CHECK-NEXT: %2 = "ckks.add"(%0, %1) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>, !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>
// CHECK-NEXT: %3 = "ckks.rescale"(%2) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>) -> !ckks.ciphertext<depth = 1, polynomial_domain = ntt, components = 3>
// CHECK-NEXT: func.return %3 : !ckks.ciphertext<depth = 1, polynomial_domain = ntt, components = 3>
// -----
// RUN: OpenStatesPass()
// RUN: PlaceRescalesPass(when="immediate")
func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %y: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "y"}) -> !ckks.ciphertext {
  %0 = "ckks.multiply"(%x, %y) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %1 = "ckks.square"(%x) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %2 = "ckks.add"(%0, %1) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  func.return %2 : !ckks.ciphertext
}
// CHECK: builtin.module attributes {ckks.states = "open"} {
// CHECK-NEXT: func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %y: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "y"}) -> !ckks.ciphertext<depth = 1, polynomial_domain = ntt, components = 3> {
// CHECK-NEXT: %0 = "ckks.multiply"(%x, %y) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>
// CHECK-NEXT: %1 = "ckks.rescale"(%0) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>) -> !ckks.ciphertext<depth = 1, polynomial_domain = ntt, components = 3>
// CHECK-NEXT: %2 = "ckks.square"(%x) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>
// CHECK-NEXT: %3 = "ckks.rescale"(%2) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>) -> !ckks.ciphertext<depth = 1, polynomial_domain = ntt, components = 3>
// CHECK-NEXT: %4 = "ckks.add"(%1, %3) : (!ckks.ciphertext<depth = 1, polynomial_domain = ntt, components = 3>, !ckks.ciphertext<depth = 1, polynomial_domain = ntt, components = 3>) -> !ckks.ciphertext<depth = 1, polynomial_domain = ntt, components = 3>
// CHECK-NEXT: func.return %4 : !ckks.ciphertext<depth = 1, polynomial_domain = ntt, components = 3>
