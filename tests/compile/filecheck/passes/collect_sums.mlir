// RUN: CollectSumsPass()
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %y: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "y"}, %p: !ckks.plaintext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, residue_representation = montgomery> {core.name = "p"}) -> !ckks.ciphertext {
  %0 = "ckks.multiply_plaintext"(%x, %p) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.plaintext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, residue_representation = montgomery>) -> !ckks.ciphertext
  %1 = "ckks.multiply_plaintext"(%y, %p) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.plaintext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, residue_representation = montgomery>) -> !ckks.ciphertext
  %2 = "ckks.add"(%0, %1) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  func.return %2 : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %y: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "y"}, %p: !ckks.plaintext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, residue_representation = montgomery> {core.name = "p"}) -> !ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, components = 2> {
// CHECK-NEXT: %0 = "ckks.sum_plaintext_products"(%x, %y, %p, %p) <{operandSegmentSizes = array<i32: 2, 2, 0>}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.plaintext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, residue_representation = montgomery>, !ckks.plaintext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, residue_representation = montgomery>) -> !ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: func.return %0 : !ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, components = 2>
// -----
// RUN: CollectSumsPass(least_terms=3)
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %y: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "y"}) -> !ckks.ciphertext {
  %0 = "ckks.add"(%x, %y) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %1 = "ckks.add"(%0, %x) : (!ckks.ciphertext, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  func.return %1 : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %y: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "y"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {
// CHECK-NEXT: %0 = "ckks.add_many"(%x, %y, %x) <{operandSegmentSizes = array<i32: 3, 0>}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: func.return %0 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// -----
// RUN: CollectSumsPass(least_terms=3)
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2> {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %8 = "ckks.add"(%x, %x) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
  %2 = scf.for %k = %0 to %n step %1 iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>) {
    %9 = "ckks.add"(%8, %v) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
    scf.yield %9 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
  }
  func.return %2 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
}
// A sum that a loop reads is added up in front of it.
// CHECK: %0 = arith.constant 0 : index
// CHECK: %1 = arith.constant 1 : index
// CHECK: %2 = "ckks.add"(%x, %x)
// CHECK: %3 = scf.for %k = %0 to %n step %1 iter_args(%v = %x)
// CHECK: %4 = "ckks.add"(%2, %v)
// CHECK: scf.yield %4
// CHECK: func.return %3
