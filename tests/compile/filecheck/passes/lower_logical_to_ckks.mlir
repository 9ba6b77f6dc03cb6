// RUN: LowerLogicalToCkksPass()
func.func @f(%x: !logical.encrypted {core.name = "x"}, %y: !logical.encrypted {core.name = "y"}, %p: !logical.plaintext {core.name = "p"}) -> (!logical.encrypted, !logical.encrypted) {
  %0 = "logical.multiply"(%x, %x) : (!logical.encrypted, !logical.encrypted) -> !logical.encrypted
  %1 = "logical.add"(%x, %y) : (!logical.encrypted, !logical.encrypted) -> !logical.encrypted
  %2 = "logical.roll"(%1) <{step = -1 : i64}> : (!logical.encrypted) -> !logical.encrypted
  %3 = "logical.roll"(%2) <{step = 512 : i64}> : (!logical.encrypted) -> !logical.encrypted
  %4 = "logical.subtract"(%p, %3) : (!logical.plaintext, !logical.encrypted) -> !logical.encrypted
  %5 = "logical.add_scalar"(%4) <{value = 0.5 : f64}> : (!logical.encrypted) -> !logical.encrypted
  %6 = "logical.multiply"(%5, %y) : (!logical.encrypted, !logical.encrypted) -> !logical.encrypted
  func.return %0, %6 : !logical.encrypted, !logical.encrypted
}
// CHECK: func.func @f(%x: !ckks.ciphertext {core.name = "x"}, %y: !ckks.ciphertext {core.name = "y"}, %p: !ckks.plaintext {core.name = "p"}) -> (!ckks.ciphertext<components = 3>, !ckks.ciphertext<components = 3>) {
// CHECK-NEXT: %0 = "ckks.square"(%x) : (!ckks.ciphertext) -> !ckks.ciphertext<components = 3>
// CHECK-NEXT: %1 = "ckks.add"(%x, %y) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %2 = "ckks.rotate"(%1) <{step = 511 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ckks.ciphertext) -> !ckks.ciphertext<components = 2>
// CHECK-NEXT: %3 = "ckks.negate"(%2) : (!ckks.ciphertext<components = 2>) -> !ckks.ciphertext<components = 2>
// CHECK-NEXT: %4 = "ckks.add_plaintext"(%3, %p) : (!ckks.ciphertext<components = 2>, !ckks.plaintext) -> !ckks.ciphertext<components = 2>
// CHECK-NEXT: %5 = "ckks.add_scalar"(%4) <{value = 5.000000e-01 : f64}> : (!ckks.ciphertext<components = 2>) -> !ckks.ciphertext<components = 2>
// CHECK-NEXT: %6 = "ckks.multiply"(%5, %y) : (!ckks.ciphertext<components = 2>, !ckks.ciphertext) -> !ckks.ciphertext<components = 3>
// CHECK-NEXT: func.return %0, %6 : !ckks.ciphertext<components = 3>, !ckks.ciphertext<components = 3>
// -----
// RUN: LowerLogicalToCkksPass()
func.func @f(%x: !logical.encrypted<depth = 0> {core.name = "x"}, %m: !logical.message {core.name = "m"}) -> !logical.encrypted {
  %0 = "logical.multiply"(%m, %x) : (!logical.message, !logical.encrypted<depth = 0>) -> !logical.encrypted
  func.return %0 : !logical.encrypted
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}, %m: !codec.message {core.name = "m"}) -> !ckks.ciphertext<depth = 0> {
// CHECK-NEXT: %0 = "codec.prepare_plaintext"(%m, %x) <{for_ = "multiply"}> : (!codec.message, !ckks.ciphertext<depth = 0>) -> !ckks.plaintext<depth = 0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = montgomery>
// CHECK-NEXT: %1 = "ckks.multiply_plaintext"(%x, %0) : (!ckks.ciphertext<depth = 0>, !ckks.plaintext<depth = 0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = montgomery>) -> !ckks.ciphertext<depth = 0>
// CHECK-NEXT: func.return %1 : !ckks.ciphertext<depth = 0>
// -----
// RUN: LowerLogicalToCkksPass()
func.func @f(%x: !logical.encrypted<polynomial_domain = ntt, residue_representation = montgomery> {core.name = "x"}) -> !logical.encrypted {
  %0 = "logical.negate"(%x) : (!logical.encrypted<polynomial_domain = ntt, residue_representation = montgomery>) -> !logical.encrypted
  func.return %0 : !logical.encrypted
}
// CHECK: func.func @f(%x: !ckks.ciphertext<polynomial_domain = ntt, residue_representation = montgomery> {core.name = "x"}) -> !ckks.ciphertext<polynomial_domain = ntt, residue_representation = standard> {
// CHECK-NEXT: %x_1 = "ckks.from_montgomery"(%x) : (!ckks.ciphertext<polynomial_domain = ntt, residue_representation = montgomery>) -> !ckks.ciphertext<polynomial_domain = ntt, residue_representation = standard>
// CHECK-NEXT: %0 = "ckks.negate"(%x_1) : (!ckks.ciphertext<polynomial_domain = ntt, residue_representation = standard>) -> !ckks.ciphertext<polynomial_domain = ntt, residue_representation = standard>
// CHECK-NEXT: func.return %0 : !ckks.ciphertext<polynomial_domain = ntt, residue_representation = standard>
// -----
// RUN: LowerLogicalToCkksPass()
func.func @f(%p: !logical.plaintext {core.name = "p"}) -> !logical.plaintext {
  %0 = "logical.add"(%p, %p) : (!logical.plaintext, !logical.plaintext) -> !logical.plaintext
  func.return %0 : !logical.plaintext
}
// CHECK: PassError: LowerLogicalToCkksPass: operation 0 (logical.add): both operands are public, needed is a ciphertext. An operation in ckks has an encrypted operand. Compute on public vectors before they are encoded.
// -----
// RUN: LowerLogicalToCkksPass()
func.func @f(%x: !logical.encrypted {core.name = "x"}, %n: index {core.name = "n"}) -> !logical.encrypted {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = scf.for %k = %0 to %n step %1 iter_args(%v = %x) -> (!logical.encrypted) {
    %9 = "logical.negate"(%v) : (!logical.encrypted) -> !logical.encrypted
    scf.yield %9 : !logical.encrypted
  }
  func.return %2 : !logical.encrypted
}
// CHECK: func.func @f(%x: !ckks.ciphertext {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext {
// CHECK-NEXT: %0 = arith.constant 0 : index
// CHECK-NEXT: %1 = arith.constant 1 : index
// CHECK-NEXT: %2 = scf.for %k = %0 to %n step %1 iter_args(%v = %x) -> (!ckks.ciphertext) {
// CHECK-NEXT: %3 = "ckks.negate"(%v) : (!ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: scf.yield %3 : !ckks.ciphertext
// CHECK-NEXT: }
// CHECK-NEXT: func.return %2 : !ckks.ciphertext
// CHECK-NEXT: }
