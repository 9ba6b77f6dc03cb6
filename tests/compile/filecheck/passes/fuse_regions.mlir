// RUN: AssignCkksDepthsPass()
// RUN: FuseRegionsPass(registry)
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %p: !ckks.plaintext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, residue_representation = montgomery> {core.name = "p"}) -> (!ckks.ciphertext, !ckks.ciphertext) {
  %0 = "ckks.add"(%x, %x) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %1 = "ckks.square"(%0) : (!ckks.ciphertext) -> !ckks.ciphertext
  %2 = "ckks.multiply_plaintext"(%x, %p) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.plaintext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, residue_representation = montgomery>) -> !ckks.ciphertext
  %3 = "ckks.negate"(%2) : (!ckks.ciphertext) -> !ckks.ciphertext
  %4 = "ckks.rescale"(%3) : (!ckks.ciphertext) -> !ckks.ciphertext
  func.return %1, %4 : !ckks.ciphertext, !ckks.ciphertext
}
// Each result has the region that nothing else reads; a rescaling reads other limbs and ends one.
// CHECK: %0 = "ckks.add"(%x, %x) {core.region = 0 : i64}
// CHECK-NEXT: %1 = "ckks.square"(%0) {core.region = 0 : i64}
// CHECK-NEXT: %2 = "ckks.multiply_plaintext"(%x, %p) {core.region = 1 : i64}
// CHECK-NEXT: %3 = "ckks.negate"(%2) {core.region = 1 : i64}
// CHECK-NEXT: %4 = "ckks.rescale"(%3) :
// -----
// RUN: FuseRegionsPass(registry)
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = coefficient, components = 2> {core.name = "x"}) -> (!ckks.ciphertext, !ckks.ciphertext) {
  %0 = "ckks.negate"(%x) {core.region = 7 : i64} : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = coefficient, components = 2>) -> !ckks.ciphertext
  %1 = "ckks.add"(%0, %x) : (!ckks.ciphertext, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = coefficient, components = 2>) -> !ckks.ciphertext
  %2 = "ckks.add_scalar"(%1) <{value = 5.000000e-01 : f64}> : (!ckks.ciphertext) -> !ckks.ciphertext
  func.return %0, %2 : !ckks.ciphertext, !ckks.ciphertext
}
// A value with two readers ends its region, and so does a number that joins coefficient 0 alone.
// CHECK: %0 = "ckks.negate"(%x) :
// CHECK-NEXT: %1 = "ckks.add"(%0, %x) :
// CHECK-NEXT: %2 = "ckks.add_scalar"(%1) <{
// -----
// RUN: FuseRegionsPass(registry)
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.negate"(%x) : (!ckks.ciphertext) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// What is not known of an operand is left to linking, which names it.
// CHECK: %0 = "ckks.negate"(%x) :
// -----
// RUN: FuseRegionsPass(registry)
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2> {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %8 = "ckks.negate"(%x) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
  %2 = scf.for %k = %0 to %n step %1 iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>) {
    %9 = "ckks.add"(%v, %8) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
    %7 = "ckks.subtract"(%9, %x) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
    scf.yield %7 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
  }
  func.return %2 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
}
// A region ends where a loop begins.
// CHECK: %0 = arith.constant 0 : index
// CHECK: %1 = arith.constant 1 : index
// CHECK: %2 = "ckks.negate"(%x)
// CHECK: %3 = scf.for %k = %0 to %n step %1 iter_args(%v = %x)
// CHECK: %4 = "ckks.add"(%v, %2) {core.region = 0 : i64}
// CHECK: %5 = "ckks.subtract"(%4, %x) {core.region = 0 : i64}
// CHECK: scf.yield %5
// CHECK: func.return %3
