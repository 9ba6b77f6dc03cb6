// RUN: ScheduleOperationsPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.negate"(%x) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %1 = "ckks.add_scalar"(%x) <{value = 1.0 : f64}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %2 = "ckks.add_scalar"(%x) <{value = 2.0 : f64}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %3 = "ckks.add"(%0, %1) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  %4 = "ckks.add"(%3, %2) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  func.return %4 : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {
// CHECK-NEXT: %0 = "ckks.negate"(%x) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: %1 = "ckks.add_scalar"(%x) <{value = 1.000000e+00 : f64}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: %2 = "ckks.add"(%0, %1) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: %3 = "ckks.add_scalar"(%x) <{value = 2.000000e+00 : f64}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: %4 = "ckks.add"(%2, %3) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: func.return %4 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// -----
// RUN: ScheduleOperationsPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2> {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = scf.for %k = %0 to %n step %1 iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>) {
    %9 = "ckks.negate"(%v) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
    scf.yield %9 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
  }
  %unused = arith.constant 7 : index
  func.return %2 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
}
// Blocks keep their operations, and a loop what it reads.
// CHECK: %0 = arith.constant 0 : index
// CHECK: %1 = arith.constant 1 : index
// CHECK: %2 = scf.for %k = %0 to %n step %1 iter_args(%v = %x)
// CHECK: %3 = "ckks.negate"(%v)
// CHECK: scf.yield %3
// CHECK: %unused = arith.constant 7 : index
// CHECK: func.return %2
