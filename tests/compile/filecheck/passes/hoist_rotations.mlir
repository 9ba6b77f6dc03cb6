// RUN: HoistRotationsPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.rotate"(%x) <{step = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %1 = "ckks.rotate"(%x) <{step = 3 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %2 = "ckks.add"(%0, %1) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  func.return %2 : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {
// CHECK-NEXT: %0 = "core.material"() <{symbol = "rotation-key:1"}> : () -> !ckks.rotation_key
// CHECK-NEXT: %1 = "core.material"() <{symbol = "rotation-key:3"}> : () -> !ckks.rotation_key
// CHECK-NEXT: %2, %3 = "ckks.rotate_many"(%x, %0, %1) <{steps = [1 : i64, 3 : i64], operandSegmentSizes = array<i32: 1, 2, 0>}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.rotation_key, !ckks.rotation_key) -> (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>)
// CHECK-NEXT: %4 = "ckks.add"(%2, %3) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: func.return %4 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// -----
// RUN: HoistRotationsPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.rotate"(%x) <{step = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {
// CHECK-NEXT: %0 = "ckks.rotate"(%x) <{step = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: func.return %0 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// -----
// RUN: HoistRotationsPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2> {core.name = "x"}, %c: i1 {core.name = "c"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2> {
  %0 = scf.if %c -> (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>) {
    %9 = "ckks.rotate"(%x) <{step = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
    scf.yield %9 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
  } else {
    %9 = "ckks.rotate"(%x) <{step = 3 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
    scf.yield %9 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
  }
  func.return %0 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
}
// One branch is taken: there is nothing to share.
// CHECK: %0 = scf.if %c
// CHECK: %1 = "ckks.rotate"(%x) <{step = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}>
// CHECK: scf.yield %1
// CHECK: } else {
// CHECK: %2 = "ckks.rotate"(%x) <{step = 3 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}>
// CHECK: scf.yield %2
// CHECK: func.return %0
