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
