func.func @f(%x: !semantic.tensor<role = encrypted, slots = 16, depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = montgomery, components = 2> {core.name = "x"}, %y: !semantic.tensor<role = message> {core.name = "y"}) -> !semantic.tensor {
  %0 = "semantic.add"(%x, %x) : (!semantic.tensor<role = encrypted, slots = 16, depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = montgomery, components = 2>, !semantic.tensor<role = encrypted, slots = 16, depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = montgomery, components = 2>) -> !semantic.tensor
  %1 = "semantic.subtract"(%0, %y) : (!semantic.tensor, !semantic.tensor<role = message>) -> !semantic.tensor
  %2 = "semantic.multiply"(%1, %y) : (!semantic.tensor, !semantic.tensor<role = message>) -> !semantic.tensor
  %3 = "semantic.negate"(%2) : (!semantic.tensor) -> !semantic.tensor
  %4 = "semantic.roll"(%3) <{step = -3 : i64}> : (!semantic.tensor) -> !semantic.tensor
  %5 = "semantic.add_scalar"(%4) <{value = 5.000000e-01 : f64}> : (!semantic.tensor) -> !semantic.tensor
  %6 = "semantic.multiply_scalar"(%5) <{value = 123456789.0 : f64}> : (!semantic.tensor) -> !semantic.tensor
  %7 = "semantic.assume_message_bound"(%6) <{bound = 2.000000e+00 : f64}> : (!semantic.tensor) -> !semantic.tensor
  func.return %7 : !semantic.tensor
}
// CHECK: func.func @f(%x: !semantic.tensor<role = encrypted, slots = 16, depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = montgomery, components = 2> {core.name = "x"}, %y: !semantic.tensor<role = message> {core.name = "y"}) -> !semantic.tensor {
// CHECK-NEXT: %0 = "semantic.add"(%x, %x) : (!semantic.tensor<role = encrypted, slots = 16, depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = montgomery, components = 2>, !semantic.tensor<role = encrypted, slots = 16, depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, residue_representation = montgomery, components = 2>) -> !semantic.tensor
// CHECK-NEXT: %1 = "semantic.subtract"(%0, %y) : (!semantic.tensor, !semantic.tensor<role = message>) -> !semantic.tensor
// CHECK-NEXT: %2 = "semantic.multiply"(%1, %y) : (!semantic.tensor, !semantic.tensor<role = message>) -> !semantic.tensor
// CHECK-NEXT: %3 = "semantic.negate"(%2) : (!semantic.tensor) -> !semantic.tensor
// CHECK-NEXT: %4 = "semantic.roll"(%3) <{step = -3 : i64}> : (!semantic.tensor) -> !semantic.tensor
// CHECK-NEXT: %5 = "semantic.add_scalar"(%4) <{value = 5.000000e-01 : f64}> : (!semantic.tensor) -> !semantic.tensor
// CHECK-NEXT: %6 = "semantic.multiply_scalar"(%5) <{value = 0x419D6F3454000000 : f64}> : (!semantic.tensor) -> !semantic.tensor
// CHECK-NEXT: %7 = "semantic.assume_message_bound"(%6) <{bound = 2.000000e+00 : f64}> : (!semantic.tensor) -> !semantic.tensor
// CHECK-NEXT: func.return %7 : !semantic.tensor
// -----
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !semantic.tensor {
  %0 = "semantic.add"(%x, %x) : (!ckks.ciphertext, !ckks.ciphertext) -> !semantic.tensor
  func.return %0 : !semantic.tensor
}
// CHECK: ProgramError: Program.verify: operation 0 (semantic.add): operand 'lhs' at position 0 does not verify: !ckks.ciphertext should be of base attribute semantic.tensor. Every operation obeys its declaration. Correct it.
// -----
func.func @f(%x: !semantic.tensor {core.name = "x"}) -> !semantic.tensor {
  %0 = "semantic.roll"(%x) <{step = 1.5 : f64}> : (!semantic.tensor) -> !semantic.tensor
  func.return %0 : !semantic.tensor
}
// CHECK: ProgramError: Program.verify: operation 0 (semantic.roll): 1.500000e+00 : f64 should be of base attribute integer. Every operation obeys its declaration. Correct it.
// -----
func.func @f(%x: !semantic.tensor<role = secret> {core.name = "x"}) -> !semantic.tensor {
  func.return %x : !semantic.tensor
}
// CHECK: ProgramError: Program.parse: the text of <text> cannot be read: <text>:1:42 func.func @f(%x: !semantic.tensor<role = secret> {core.name = "x"}) -> !semantic.tensor { role is 'secret', it can be encrypted or plaintext or message. A Program is MLIR text over the dialects core, semantic, logical, codec, ckks, rns, ntt. Correct the text at that place.
// -----
func.func @f(%x: !semantic.tensor<level = 3> {core.name = "x"}) -> !semantic.tensor {
  func.return %x : !semantic.tensor
}
// CHECK: ProgramError: Program.parse: the text of <text> cannot be read: <text>:1:35 func.func @f(%x: !semantic.tensor<level = 3> {core.name = "x"}) -> !semantic.tensor { semantic.tensor has no axis 'level', it has role, slots, depth, scale, polynomial_domain, modulus_basis, residue_representation, components. A Program is MLIR text over the dialects core, semantic, logical, codec, ckks, rns, ntt. Correct the text at that place.
// -----
func.func @f(%x: !semantic.tensor<role = encrypted, slots = 4> {core.name = "x"}) -> !semantic.tensor {
  %0 = "semantic.sum"(%x) <{period = 4 : i64}> : (!semantic.tensor<role = encrypted, slots = 4>) -> !semantic.tensor
  %1 = "semantic.sum"(%0) : (!semantic.tensor) -> !semantic.tensor
  %2 = "core.constant"() <{value = [0.5 : f64, -0.5 : f64]}> : () -> !semantic.tensor<role = message, slots = 2>
  %3 = "semantic.matrix_product"(%1, %2) <{rows = 2 : i64, columns = 1 : i64}> : (!semantic.tensor, !semantic.tensor<role = message, slots = 2>) -> !semantic.tensor
  %4 = "semantic.polynomial"(%3) <{coefficients = [0.5 : f64, 1.0 : f64]}> : (!semantic.tensor) -> !semantic.tensor
  func.return %4 : !semantic.tensor
}
// CHECK: func.func @f(%x: !semantic.tensor<role = encrypted, slots = 4> {core.name = "x"}) -> !semantic.tensor {
// CHECK-NEXT: %0 = "semantic.sum"(%x) <{period = 4 : i64}> : (!semantic.tensor<role = encrypted, slots = 4>) -> !semantic.tensor
// CHECK-NEXT: %1 = "semantic.sum"(%0) : (!semantic.tensor) -> !semantic.tensor
// CHECK-NEXT: %2 = "core.constant"() <{value = [5.000000e-01 : f64, -5.000000e-01 : f64]}> : () -> !semantic.tensor<role = message, slots = 2>
// CHECK-NEXT: %3 = "semantic.matrix_product"(%1, %2) <{rows = 2 : i64, columns = 1 : i64}> : (!semantic.tensor, !semantic.tensor<role = message, slots = 2>) -> !semantic.tensor
// CHECK-NEXT: %4 = "semantic.polynomial"(%3) <{coefficients = [5.000000e-01 : f64, 1.000000e+00 : f64]}> : (!semantic.tensor) -> !semantic.tensor
// CHECK-NEXT: func.return %4 : !semantic.tensor
// -----
func.func @f(%x: !semantic.tensor {core.name = "x"}, %y: !semantic.tensor {core.name = "y"}) -> !semantic.tensor {
  %0 = "semantic.bound_by"(%x, %y) <{factor = 2.000000e+00 : f64}> : (!semantic.tensor, !semantic.tensor) -> !semantic.tensor
  func.return %0 : !semantic.tensor
}
// CHECK: %0 = "semantic.bound_by"(%x, %y) <{factor = 2.000000e+00 : f64}> : (!semantic.tensor, !semantic.tensor) -> !semantic.tensor
// CHECK-NEXT: func.return %0 : !semantic.tensor
