// RUN: OpenStatesPass()
// RUN: PlaceRelinearizationsPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %y: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "y"}) -> !ckks.ciphertext {
  %0 = "ckks.multiply"(%x, %y) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %1 = "ckks.square"(%x) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %2 = "ckks.add"(%0, %1) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  func.return %2 : !ckks.ciphertext
}
// CHECK: builtin.module attributes {ckks.states = "open"} {
// CHECK-NEXT: func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %y: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "y"}) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {
// CHECK-NEXT: %0 = "core.material"() <{symbol = "relinearization-key"}> : () -> !ckks.relinearization_key
// CHECK-NEXT: %1 = "ckks.multiply"(%x, %y) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>
// CHECK-NEXT: %2 = "ckks.square"(%x) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>
// CHECK-NEXT: %3 = "ckks.add"(%1, %2) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>, !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>
// CHECK-NEXT: %4 = "ckks.relinearize"(%3, %0) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>, !ckks.relinearization_key) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: func.return %4 : !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>
// -----
// RUN: OpenStatesPass()
// RUN: PlaceRelinearizationsPass(when="immediate")
func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %y: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "y"}) -> !ckks.ciphertext {
  %0 = "ckks.multiply"(%x, %y) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %1 = "ckks.square"(%x) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %2 = "ckks.add"(%0, %1) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  func.return %2 : !ckks.ciphertext
}
// CHECK: builtin.module attributes {ckks.states = "open"} {
// CHECK-NEXT: func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %y: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "y"}) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {
// CHECK-NEXT: %0 = "core.material"() <{symbol = "relinearization-key"}> : () -> !ckks.relinearization_key
// CHECK-NEXT: %1 = "ckks.multiply"(%x, %y) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>
// CHECK-NEXT: %2 = "ckks.relinearize"(%1, %0) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>, !ckks.relinearization_key) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: %3 = "ckks.square"(%x) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>
// CHECK-NEXT: %4 = "ckks.relinearize"(%3, %0) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>, !ckks.relinearization_key) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: %5 = "ckks.add"(%2, %4) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: func.return %5 : !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>
// -----
// RUN: OpenStatesPass()
// RUN: PlaceRelinearizationsPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = scf.for %k = %0 to %n step %1 iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) {
    %9 = "ckks.square"(%v) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
    %7 = "core.cast"(%9) : (!ckks.ciphertext) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
    scf.yield %7 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
  }
  func.return %2 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
}
// CHECK: builtin.module attributes {ckks.states = "open"} {
// CHECK-NEXT: func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {
// CHECK-NEXT: %0 = "core.material"() <{symbol = "relinearization-key"}> : () -> !ckks.relinearization_key
// CHECK-NEXT: %1 = arith.constant 0 : index
// CHECK-NEXT: %2 = arith.constant 1 : index
// CHECK-NEXT: %3 = scf.for %k = %1 to %n step %2 iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) {
// CHECK-NEXT: %4 = "ckks.square"(%v) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, components = 3>
// CHECK-NEXT: %5 = "ckks.relinearize"(%4, %0) : (!ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, components = 3>, !ckks.relinearization_key) -> !ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: %6 = "core.cast"(%5) : (!ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: scf.yield %6 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %3 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: }
// CHECK-NEXT: }
