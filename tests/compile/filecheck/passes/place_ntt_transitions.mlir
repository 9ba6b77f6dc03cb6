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
// -----
// RUN: OpenStatesPass()
// RUN: PlaceNttTransitionsPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = coefficient> {core.name = "x"}, %c: i1 {core.name = "c"}) -> !ckks.ciphertext<depth = 0, polynomial_domain = coefficient> {
  %0 = scf.if %c -> (!ckks.ciphertext<depth = 0, polynomial_domain = coefficient>) {
    %9 = "ckks.square"(%x) <{output_domain = "ntt"}> : (!ckks.ciphertext<depth = 0, polynomial_domain = coefficient>) -> !ckks.ciphertext
    %7 = "core.cast"(%9) : (!ckks.ciphertext) -> !ckks.ciphertext<depth = 0, polynomial_domain = coefficient>
    scf.yield %7 : !ckks.ciphertext<depth = 0, polynomial_domain = coefficient>
  } else {
    scf.yield %x : !ckks.ciphertext<depth = 0, polynomial_domain = coefficient>
  }
  func.return %0 : !ckks.ciphertext<depth = 0, polynomial_domain = coefficient>
}
// CHECK: builtin.module attributes {ckks.states = "open"} {
// CHECK-NEXT: func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = coefficient> {core.name = "x"}, %c: i1 {core.name = "c"}) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt> {
// CHECK-NEXT: %x_1 = "ckks.coefficient_to_ntt"(%x) : (!ckks.ciphertext<depth = 0, polynomial_domain = coefficient>) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt>
// CHECK-NEXT: %0 = scf.if %c -> (!ckks.ciphertext<depth = 0, polynomial_domain = ntt>) {
// CHECK-NEXT: %1 = "ckks.square"(%x_1) <{output_domain = "ntt"}> : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt>) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>
// CHECK-NEXT: %2 = "core.cast"(%1) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 3>) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt>
// CHECK-NEXT: scf.yield %2 : !ckks.ciphertext<depth = 0, polynomial_domain = ntt>
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %x_1 : !ckks.ciphertext<depth = 0, polynomial_domain = ntt>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %0 : !ckks.ciphertext<depth = 0, polynomial_domain = ntt>
// CHECK-NEXT: }
// CHECK-NEXT: }
