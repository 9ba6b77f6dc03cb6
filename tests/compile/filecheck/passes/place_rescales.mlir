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
// -----
// RUN: OpenStatesPass()
// RUN: PlaceRescalesPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %c: i1 {core.name = "c"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {
  %0 = scf.if %c -> (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) {
    %9 = "ckks.multiply_scalar"(%x) <{value = 0.5 : f64}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
    %7 = "core.cast"(%9) : (!ckks.ciphertext) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
    scf.yield %7 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
  } else {
    scf.yield %x : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
  }
  func.return %0 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
}
// CHECK: builtin.module attributes {ckks.states = "open"} {
// CHECK-NEXT: func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %c: i1 {core.name = "c"}) -> !ckks.ciphertext<polynomial_domain = ntt, components = 2> {
// CHECK-NEXT: %0 = scf.if %c -> (!ckks.ciphertext<polynomial_domain = ntt, components = 2>) {
// CHECK-NEXT: %1 = "ckks.multiply_scalar"(%x) <{value = 5.000000e-01 : f64}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: %2 = "ckks.rescale"(%1) : (!ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: %3 = "core.cast"(%2) : (!ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<polynomial_domain = ntt, components = 2>
// CHECK-NEXT: scf.yield %3 : !ckks.ciphertext<polynomial_domain = ntt, components = 2>
// CHECK-NEXT: } else {
// CHECK-NEXT: %4 = "core.cast"(%x) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<polynomial_domain = ntt, components = 2>
// CHECK-NEXT: scf.yield %4 : !ckks.ciphertext<polynomial_domain = ntt, components = 2>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %0 : !ckks.ciphertext<polynomial_domain = ntt, components = 2>
// CHECK-NEXT: }
// CHECK-NEXT: }
