// RUN: FuseOperationsPass()
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %y: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "y"}) -> !ckks.ciphertext {
  %k = "core.material"() <{symbol = "relinearization-key"}> : () -> !ckks.relinearization_key
  %0 = "ckks.multiply"(%x, %y) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %1 = "ckks.relinearize"(%0, %k) : (!ckks.ciphertext, !ckks.relinearization_key) -> !ckks.ciphertext
  %2 = "ckks.rescale"(%1) : (!ckks.ciphertext) -> !ckks.ciphertext
  func.return %2 : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %y: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "y"}) -> !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2> {
// CHECK-NEXT: %k = "core.material"() <{symbol = "relinearization-key"}> : () -> !ckks.relinearization_key
// CHECK-NEXT: %0 = "ckks.multiply_rescale"(%x, %y, %k) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.relinearization_key) -> !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: func.return %0 : !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2>
// -----
// RUN: FuseOperationsPass()
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %p: !ckks.plaintext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, residue_representation = montgomery> {core.name = "p"}) -> !ckks.ciphertext {
  %0 = "ckks.multiply_plaintext"(%x, %p) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.plaintext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, residue_representation = montgomery>) -> !ckks.ciphertext
  %1 = "ckks.rescale"(%0) : (!ckks.ciphertext) -> !ckks.ciphertext
  func.return %1 : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %p: !ckks.plaintext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, residue_representation = montgomery> {core.name = "p"}) -> !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2> {
// CHECK-NEXT: %0 = "ckks.multiply_plaintext_rescale"(%x, %p) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.plaintext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, residue_representation = montgomery>) -> !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: func.return %0 : !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2>
// -----
// RUN: FuseOperationsPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}) -> (!ckks.ciphertext, !ckks.ciphertext) {
  %k = "core.material"() <{symbol = "relinearization-key"}> : () -> !ckks.relinearization_key
  %0 = "ckks.square"(%x) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %1 = "ckks.relinearize"(%0, %k) : (!ckks.ciphertext, !ckks.relinearization_key) -> !ckks.ciphertext
  %2 = "ckks.rescale"(%1) : (!ckks.ciphertext) -> !ckks.ciphertext
  func.return %1, %2 : !ckks.ciphertext, !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}) -> (!ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2>) {
// CHECK-NEXT: %k = "core.material"() <{symbol = "relinearization-key"}> : () -> !ckks.relinearization_key
// CHECK-NEXT: %0 = "ckks.square"(%x) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, components = 3>
// CHECK-NEXT: %1 = "ckks.relinearize"(%0, %k) : (!ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, components = 3>, !ckks.relinearization_key) -> !ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: %2 = "ckks.rescale"(%1) : (!ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: func.return %1, %2 : !ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2>
// -----
// RUN: FuseOperationsPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2> {core.name = "x"}, %p: !ckks.plaintext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, residue_representation = montgomery> {core.name = "p"}, %n: index {core.name = "n"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %8 = "ckks.multiply_plaintext"(%x, %p) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>, !ckks.plaintext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, residue_representation = montgomery>) -> !ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
  %2 = scf.for %k = %0 to %n step %1 iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>) {
    %9 = "ckks.rescale"(%8) : (!ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>) -> !ckks.ciphertext
    %7 = "ckks.mod_switch"(%9) <{depth = 1 : i64}> : (!ckks.ciphertext) -> !ckks.ciphertext
    scf.yield %v : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
  }
  func.return %2 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
}
// A product is computed once, and not in each round.
// CHECK: %0 = arith.constant 0 : index
// CHECK: %1 = arith.constant 1 : index
// CHECK: %2 = "ckks.multiply_plaintext"(%x, %p)
// CHECK: %3 = scf.for %k = %0 to %n step %1 iter_args(%v = %x)
// CHECK: %4 = "ckks.rescale"(%2)
// CHECK: %5 = "ckks.mod_switch"(%4) <{depth = 1 : i64}>
// CHECK: scf.yield %v
// CHECK: func.return %3
