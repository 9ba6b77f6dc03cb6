func.func @f(%x: !rns.residues {core.name = "x"}, %t: !rns.table {core.name = "t"}) -> !rns.residues {
  %0 = "rns.add_standard"(%x, %x, %t) : (!rns.residues, !rns.residues, !rns.table) -> !rns.residues
  %1 = "rns.subtract_standard"(%0, %x, %t) : (!rns.residues, !rns.residues, !rns.table) -> !rns.residues
  %2 = "rns.negate_standard"(%1, %t) : (!rns.residues, !rns.table) -> !rns.residues
  %3 = "rns.multiply_montgomery"(%2, %x, %t) : (!rns.residues, !rns.residues, !rns.table) -> !rns.residues
  %4 = "rns.to_montgomery"(%3, %t) : (!rns.residues, !rns.table) -> !rns.residues
  %5 = "rns.from_montgomery"(%4, %t) : (!rns.residues, !rns.table) -> !rns.residues
  %6 = "rns.mod_up"(%5, %t, %t, %t, %t, %t) : (!rns.residues, !rns.table, !rns.table, !rns.table, !rns.table, !rns.table) -> !rns.residues
  %7 = "rns.mod_down"(%6, %t, %t, %t, %t, %t) : (!rns.residues, !rns.table, !rns.table, !rns.table, !rns.table, !rns.table) -> !rns.residues
  %8 = "rns.component"(%7) <{index = 1 : i64}> : (!rns.residues) -> !rns.residues
  %9 = "rns.first_components"(%x) <{count = 2 : i64}> : (!rns.residues) -> !rns.residues
  %10 = "rns.drop_limbs"(%9) <{target_depth = 2 : i64}> : (!rns.residues) -> !rns.residues
  %11 = "rns.add_to_first_component"(%10, %8, %t) : (!rns.residues, !rns.residues, !rns.table) -> !rns.residues
  %12 = "rns.add_constant"(%11, %t, %t) : (!rns.residues, !rns.table, !rns.table) -> !rns.residues
  %13 = "rns.ciphertext_product"(%12, %12, %t) : (!rns.residues, !rns.residues, !rns.table) -> !rns.residues
  %14 = "rns.ciphertext_square"(%12, %t) : (!rns.residues, !rns.table) -> !rns.residues
  %15 = "rns.multiply_constant"(%14, %t, %t) : (!rns.residues, !rns.table, !rns.table) -> !rns.residues
  %16 = "rns.key_switch_inner_product"(%15, %13, %t) : (!rns.residues, !rns.residues, !rns.table) -> !rns.residues
  %17 = "rns.rescale"(%16, %t, %t) <{rounding = "truncate"}> : (!rns.residues, !rns.table, !rns.table) -> !rns.residues
  %18 = "rns.automorphism"(%17, %t) <{galois_element = 5 : i64}> : (!rns.residues, !rns.table) -> !rns.residues
  func.return %18 : !rns.residues
}
// CHECK: func.func @f(%x: !rns.residues {core.name = "x"}, %t: !rns.table {core.name = "t"}) -> !rns.residues {
// CHECK-NEXT: %0 = "rns.add_standard"(%x, %x, %t) : (!rns.residues, !rns.residues, !rns.table) -> !rns.residues
// CHECK-NEXT: %1 = "rns.subtract_standard"(%0, %x, %t) : (!rns.residues, !rns.residues, !rns.table) -> !rns.residues
// CHECK-NEXT: %2 = "rns.negate_standard"(%1, %t) : (!rns.residues, !rns.table) -> !rns.residues
// CHECK-NEXT: %3 = "rns.multiply_montgomery"(%2, %x, %t) : (!rns.residues, !rns.residues, !rns.table) -> !rns.residues
// CHECK-NEXT: %4 = "rns.to_montgomery"(%3, %t) : (!rns.residues, !rns.table) -> !rns.residues
// CHECK-NEXT: %5 = "rns.from_montgomery"(%4, %t) : (!rns.residues, !rns.table) -> !rns.residues
// CHECK-NEXT: %6 = "rns.mod_up"(%5, %t, %t, %t, %t, %t) : (!rns.residues, !rns.table, !rns.table, !rns.table, !rns.table, !rns.table) -> !rns.residues
// CHECK-NEXT: %7 = "rns.mod_down"(%6, %t, %t, %t, %t, %t) : (!rns.residues, !rns.table, !rns.table, !rns.table, !rns.table, !rns.table) -> !rns.residues
// CHECK-NEXT: %8 = "rns.component"(%7) <{index = 1 : i64}> : (!rns.residues) -> !rns.residues
// CHECK-NEXT: %9 = "rns.first_components"(%x) <{count = 2 : i64}> : (!rns.residues) -> !rns.residues
// CHECK-NEXT: %10 = "rns.drop_limbs"(%9) <{target_depth = 2 : i64}> : (!rns.residues) -> !rns.residues
// CHECK-NEXT: %11 = "rns.add_to_first_component"(%10, %8, %t) : (!rns.residues, !rns.residues, !rns.table) -> !rns.residues
// CHECK-NEXT: %12 = "rns.add_constant"(%11, %t, %t) : (!rns.residues, !rns.table, !rns.table) -> !rns.residues
// CHECK-NEXT: %13 = "rns.ciphertext_product"(%12, %12, %t) : (!rns.residues, !rns.residues, !rns.table) -> !rns.residues
// CHECK-NEXT: %14 = "rns.ciphertext_square"(%12, %t) : (!rns.residues, !rns.table) -> !rns.residues
// CHECK-NEXT: %15 = "rns.multiply_constant"(%14, %t, %t) : (!rns.residues, !rns.table, !rns.table) -> !rns.residues
// CHECK-NEXT: %16 = "rns.key_switch_inner_product"(%15, %13, %t) : (!rns.residues, !rns.residues, !rns.table) -> !rns.residues
// CHECK-NEXT: %17 = "rns.rescale"(%16, %t, %t) <{rounding = "truncate"}> : (!rns.residues, !rns.table, !rns.table) -> !rns.residues
// CHECK-NEXT: %18 = "rns.automorphism"(%17, %t) <{galois_element = 5 : i64}> : (!rns.residues, !rns.table) -> !rns.residues
// CHECK-NEXT: func.return %18 : !rns.residues
// -----
func.func @f(%x: !rns.residues {core.name = "x"}, %y: !rns.residues {core.name = "y"}) -> !rns.residues {
  %0 = "rns.negate_standard"(%x, %y) : (!rns.residues, !rns.residues) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: ProgramError: Program.verify: operation 0 (rns.negate_standard): operand 'rns_params' at position 1 does not verify: !rns.residues should be of base attribute rns.table. Every operation obeys its declaration. Correct it.
// -----
func.func @f(%x: !rns.residues<scale = 1.0> {core.name = "x"}, %y: !rns.table {core.name = "y"}) -> !rns.residues {
  %0 = "rns.negate_standard"(%x, %y) : (!rns.residues<scale = 1.0>, !rns.table) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: ProgramError: Program.parse: the text of <text> cannot be read: <text>:1:32 func.func @f(%x: !rns.residues<scale = 1.0> {core.name = "x"}, %y: !rns.table {core.name = "y"}) -> !rns.residues { rns.residues has no axis 'scale', it has depth, polynomial_domain, modulus_basis, residue_representation, components. A Program is MLIR text over the dialects core, semantic, logical, codec, ckks, rns, ntt. Correct the text at that place.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !rns.residues<depth = 0> {core.name = "x"}, %y: !rns.residues<depth = 1> {core.name = "y"}, %t: !rns.table {core.name = "t"}) -> !rns.residues {
  %0 = "rns.add_standard"(%x, %y, %t) : (!rns.residues<depth = 0>, !rns.residues<depth = 1>, !rns.table) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: StateError: operation 0 (rns.add_standard): depth is 0 for operand 0 and 1 for operand 1. Depths must agree. Bring both to one depth with engine.align_to_depth(value, depth).
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !rns.residues<residue_representation = standard> {core.name = "x"}, %y: !rns.residues<residue_representation = montgomery> {core.name = "y"}, %t: !rns.table {core.name = "t"}) -> !rns.residues {
  %0 = "rns.add_standard"(%x, %y, %t) : (!rns.residues<residue_representation = standard>, !rns.residues<residue_representation = montgomery>, !rns.table) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: StateError: operation 0 (rns.add_standard): residue_representation is standard for operand 0 and montgomery for operand 1. Residue representations must agree. Use values in one representation; ciphertexts are kept in standard form.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !rns.residues {core.name = "x"}, %y: !rns.residues<residue_representation = standard> {core.name = "y"}, %t: !rns.table {core.name = "t"}) -> !rns.residues {
  %0 = "rns.multiply_montgomery"(%x, %y, %t) : (!rns.residues, !rns.residues<residue_representation = standard>, !rns.table) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: StateError: operation 0 (rns.multiply_montgomery): the second factor's residue representation is standard, needed is montgomery. This operation takes montgomery only. Convert the factor with rns.to_montgomery.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !rns.residues<residue_representation = montgomery> {core.name = "x"}, %y: !rns.table {core.name = "y"}) -> !rns.residues {
  %0 = "rns.to_montgomery"(%x, %y) : (!rns.residues<residue_representation = montgomery>, !rns.table) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: StateError: operation 0 (rns.to_montgomery): the operand's residue representation is montgomery, needed is standard. This operation takes standard only. It is in that form already.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !rns.residues<residue_representation = standard> {core.name = "x"}, %y: !rns.table {core.name = "y"}) -> !rns.residues {
  %0 = "rns.from_montgomery"(%x, %y) : (!rns.residues<residue_representation = standard>, !rns.table) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: StateError: operation 0 (rns.from_montgomery): the operand's residue representation is standard, needed is montgomery. This operation takes montgomery only. It is in that form already.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !rns.residues<components = 2> {core.name = "x"}) -> !rns.residues {
  %0 = "rns.component"(%x) <{index = 2 : i64}> : (!rns.residues<components = 2>) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: StateError: operation 0 (rns.component): asked for are 3 components, there are 2. A part is inside the whole. Name components that exist.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !rns.residues<depth = 2> {core.name = "x"}) -> !rns.residues {
  %0 = "rns.drop_limbs"(%x) <{target_depth = 1 : i64}> : (!rns.residues<depth = 2>) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: StateError: operation 0 (rns.drop_limbs): the operand is at depth 2, asked for is 1. Depth only grows; dropped primes cannot come back.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !rns.residues<polynomial_domain = coefficient> {core.name = "x"}, %y: !rns.residues {core.name = "y"}, %t: !rns.table {core.name = "t"}) -> !rns.residues {
  %0 = "rns.ciphertext_product"(%x, %y, %t) : (!rns.residues<polynomial_domain = coefficient>, !rns.residues, !rns.table) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: StateError: operation 0 (rns.ciphertext_product): the operand's polynomial domain is coefficient, needed is ntt. This operation takes ntt only. Transform it with ntt.forward.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !rns.residues<depth = 3, polynomial_domain = coefficient> {core.name = "x"}, %y: !rns.table {core.name = "y"}, %t: !rns.table {core.name = "t"}) -> !rns.residues {
  %0 = "rns.rescale"(%x, %y, %t) : (!rns.residues<depth = 3, polynomial_domain = coefficient>, !rns.table, !rns.table) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: DepthExhaustedError: operation 0 (rns.rescale): the ciphertext is at depth 3, the largest depth is 3. Every rescale drops one prime and the base prime stays. Choose a preset with more depth, such as slots4096_scale30_depth4_int64, or rescale less.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !rns.residues<polynomial_domain = ntt> {core.name = "x"}, %y: !rns.table {core.name = "y"}, %t: !rns.table {core.name = "t"}, %u: !rns.table {core.name = "u"}, %v: !rns.table {core.name = "v"}, %w: !rns.table {core.name = "w"}) -> !rns.residues {
  %0 = "rns.mod_up"(%x, %y, %t, %u, %v, %w) : (!rns.residues<polynomial_domain = ntt>, !rns.table, !rns.table, !rns.table, !rns.table, !rns.table) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: StateError: operation 0 (rns.mod_up): the operand's polynomial domain is ntt, needed is coefficient. This operation takes coefficient only. Transform it with ntt.inverse.
