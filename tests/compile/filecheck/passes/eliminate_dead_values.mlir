// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext {core.name = "x"}, %unused: !ckks.ciphertext {core.name = "unused"}) -> !ckks.ciphertext {
  %0 = "ckks.negate"(%x) : (!ckks.ciphertext) -> !ckks.ciphertext
  %1 = "ckks.add"(%0, %x) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  %2 = "ckks.square"(%1) : (!ckks.ciphertext) -> !ckks.ciphertext
  %3 = "ckks.subtract"(%1, %x) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  func.return %3 : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext {core.name = "x"}, %unused: !ckks.ciphertext {core.name = "unused"}) -> !ckks.ciphertext {
// CHECK-NEXT: %0 = "ckks.negate"(%x) : (!ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %1 = "ckks.add"(%0, %x) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %2 = "ckks.subtract"(%1, %x) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: func.return %2 : !ckks.ciphertext
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2> {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = scf.for %k = %0 to %n step %1 iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>) {
    %9 = "ckks.negate"(%v) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
    scf.yield %9 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
  }
  func.return %x : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
}
// A loop goes that nobody reads.
// CHECK: func.return %x
