// RUN: PreparePlaintextsPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt> {core.name = "x"}, %m: !codec.message {core.name = "m"}) -> !ckks.ciphertext {
  %0 = "codec.prepare_plaintext"(%m, %x) <{for_ = "multiply"}> : (!codec.message, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt>) -> !ckks.plaintext
  %1 = "ckks.multiply_plaintext"(%x, %0) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt>, !ckks.plaintext) -> !ckks.ciphertext
  %2 = "codec.prepare_plaintext"(%m, %x) <{for_ = "multiply"}> : (!codec.message, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt>) -> !ckks.plaintext
  %3 = "ckks.multiply_plaintext"(%x, %2) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt>, !ckks.plaintext) -> !ckks.ciphertext
  %4 = "codec.prepare_plaintext"(%m, %1) <{for_ = "add"}> : (!codec.message, !ckks.ciphertext) -> !ckks.plaintext
  %5 = "ckks.add_plaintext"(%1, %4) : (!ckks.ciphertext, !ckks.plaintext) -> !ckks.ciphertext
  %6 = "ckks.add"(%5, %3) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  func.return %6 : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt> {core.name = "x"}, %m: !codec.message {core.name = "m"}) -> !ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt> {
// CHECK-NEXT: %0 = "codec.prepare_plaintext"(%m, %x) <{for_ = "multiply"}> : (!codec.message, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt>) -> !ckks.plaintext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = montgomery>
// CHECK-NEXT: %1 = "ckks.multiply_plaintext"(%x, %0) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt>, !ckks.plaintext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = montgomery>) -> !ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt>
// CHECK-NEXT: %2 = "ckks.multiply_plaintext"(%x, %0) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt>, !ckks.plaintext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = montgomery>) -> !ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt>
// CHECK-NEXT: %3 = "codec.prepare_plaintext"(%m, %1) <{for_ = "add"}> : (!codec.message, !ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt>) -> !ckks.plaintext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard>
// CHECK-NEXT: %4 = "ckks.add_plaintext"(%1, %3) : (!ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt>, !ckks.plaintext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard>) -> !ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt>
// CHECK-NEXT: %5 = "ckks.add"(%4, %2) : (!ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt>, !ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt>) -> !ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt>
// CHECK-NEXT: func.return %5 : !ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt>
// -----
// RUN: PreparePlaintextsPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2> {core.name = "x"}, %m: !codec.message {core.name = "m"}, %c: i1 {core.name = "c"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2> {
  %0 = scf.if %c -> (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>) {
    %8 = "codec.prepare_plaintext"(%m, %x) <{for_ = "add"}> : (!codec.message, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>) -> !ckks.plaintext
    %9 = "ckks.add_plaintext"(%x, %8) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>, !ckks.plaintext) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
    scf.yield %9 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
  } else {
    %8 = "codec.prepare_plaintext"(%m, %x) <{for_ = "add"}> : (!codec.message, !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>) -> !ckks.plaintext
    %9 = "ckks.add_plaintext"(%x, %8) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>, !ckks.plaintext) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
    scf.yield %9 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
  }
  func.return %0 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = standard, components = 2>
}
// Only one branch is run: each prepares its own.
// CHECK: %0 = scf.if %c
// CHECK: %1 = "codec.prepare_plaintext"(%m, %x) <{for_ = "add"}>
// CHECK: %2 = "ckks.add_plaintext"(%x, %1)
// CHECK: scf.yield %2
// CHECK: } else {
// CHECK: %3 = "codec.prepare_plaintext"(%m, %x) <{for_ = "add"}>
// CHECK: %4 = "ckks.add_plaintext"(%x, %3)
// CHECK: scf.yield %4
// CHECK: func.return %0
