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
