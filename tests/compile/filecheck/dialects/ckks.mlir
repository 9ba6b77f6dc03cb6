func.func @f(%x: !ckks.ciphertext {core.name = "x"}, %p: !ckks.plaintext {core.name = "p"}, %k: !ckks.relinearization_key {core.name = "k"}, %r: !ckks.rotation_key {core.name = "r"}, %j: !ckks.conjugation_key {core.name = "j"}, %w: !ckks.switching_key {core.name = "w"}) -> !ckks.ciphertext {
  %0 = "ckks.add"(%x, %x) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  %1 = "ckks.subtract"(%0, %x) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  %2 = "ckks.negate"(%1) : (!ckks.ciphertext) -> !ckks.ciphertext
  %3 = "ckks.multiply"(%2, %x) <{output_domain = "ntt"}> : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  %4 = "ckks.square"(%3) : (!ckks.ciphertext) -> !ckks.ciphertext
  %5 = "ckks.relinearize"(%4, %k) : (!ckks.ciphertext, !ckks.relinearization_key) -> !ckks.ciphertext
  %6 = "ckks.multiply_rescale"(%5, %x, %k) : (!ckks.ciphertext, !ckks.ciphertext, !ckks.relinearization_key) -> !ckks.ciphertext
  %7 = "ckks.add_plaintext"(%6, %p) : (!ckks.ciphertext, !ckks.plaintext) -> !ckks.ciphertext
  %8 = "ckks.multiply_plaintext"(%7, %p) : (!ckks.ciphertext, !ckks.plaintext) -> !ckks.ciphertext
  %9 = "ckks.add_scalar"(%8) <{value = 5.000000e-01 : f64}> : (!ckks.ciphertext) -> !ckks.ciphertext
  %10 = "ckks.multiply_scalar"(%9) <{value = 0.1 : f64, scale = 1.000000e+00 : f64}> : (!ckks.ciphertext) -> !ckks.ciphertext
  %11 = "ckks.add_many"(%10, %x, %9) <{operandSegmentSizes = array<i32: 3, 0>}> : (!ckks.ciphertext, !ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  %12 = "ckks.sum_plaintext_products"(%11, %x, %p, %p) <{operandSegmentSizes = array<i32: 2, 2, 0>}> : (!ckks.ciphertext, !ckks.ciphertext, !ckks.plaintext, !ckks.plaintext) -> !ckks.ciphertext
  %13 = "ckks.rotate"(%12, %r) <{step = 3 : i64, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ckks.ciphertext, !ckks.rotation_key) -> !ckks.ciphertext
  %14 = "ckks.rotate"(%13) <{step = 5 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ckks.ciphertext) -> !ckks.ciphertext
  %15 = "ckks.conjugate"(%14, %j) : (!ckks.ciphertext, !ckks.conjugation_key) -> !ckks.ciphertext
  %16, %17 = "ckks.rotate_many"(%15, %r, %r) <{steps = [3 : i64, 3 : i64], operandSegmentSizes = array<i32: 1, 2, 0>}> : (!ckks.ciphertext, !ckks.rotation_key, !ckks.rotation_key) -> (!ckks.ciphertext, !ckks.ciphertext)
  %18 = "ckks.switch_key"(%16, %w) <{source_key_id = "cafe"}> : (!ckks.ciphertext, !ckks.switching_key) -> !ckks.ciphertext
  %19 = "ckks.rescale"(%18) <{rounding = "truncate"}> : (!ckks.ciphertext) -> !ckks.ciphertext
  %20 = "ckks.mod_switch"(%19) <{depth = 2 : i64}> : (!ckks.ciphertext) -> !ckks.ciphertext
  %21 = "ckks.align"(%20) <{depth = 3 : i64}> : (!ckks.ciphertext) -> !ckks.ciphertext
  %22 = "ckks.reinterpret_scale"(%21) <{scale = 5.000000e+08 : f64}> : (!ckks.ciphertext) -> !ckks.ciphertext
  %23 = "ckks.assume_message_bound"(%22) <{bound = 5.000000e-01 : f64}> : (!ckks.ciphertext) -> !ckks.ciphertext
  %24 = "ckks.coefficient_to_ntt"(%23) : (!ckks.ciphertext) -> !ckks.ciphertext
  %25 = "ckks.ntt_to_coefficient"(%24) : (!ckks.ciphertext) -> !ckks.ciphertext
  %26 = "ckks.from_montgomery"(%25) : (!ckks.ciphertext) -> !ckks.ciphertext
  %27 = "ckks.multiply_plaintext_rescale"(%26, %p) : (!ckks.ciphertext, !ckks.plaintext) -> !ckks.ciphertext
  func.return %27 : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext {core.name = "x"}, %p: !ckks.plaintext {core.name = "p"}, %k: !ckks.relinearization_key {core.name = "k"}, %r: !ckks.rotation_key {core.name = "r"}, %j: !ckks.conjugation_key {core.name = "j"}, %w: !ckks.switching_key {core.name = "w"}) -> !ckks.ciphertext {
// CHECK-NEXT: %0 = "ckks.add"(%x, %x) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %1 = "ckks.subtract"(%0, %x) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %2 = "ckks.negate"(%1) : (!ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %3 = "ckks.multiply"(%2, %x) <{output_domain = "ntt"}> : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %4 = "ckks.square"(%3) : (!ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %5 = "ckks.relinearize"(%4, %k) : (!ckks.ciphertext, !ckks.relinearization_key) -> !ckks.ciphertext
// CHECK-NEXT: %6 = "ckks.multiply_rescale"(%5, %x, %k) : (!ckks.ciphertext, !ckks.ciphertext, !ckks.relinearization_key) -> !ckks.ciphertext
// CHECK-NEXT: %7 = "ckks.add_plaintext"(%6, %p) : (!ckks.ciphertext, !ckks.plaintext) -> !ckks.ciphertext
// CHECK-NEXT: %8 = "ckks.multiply_plaintext"(%7, %p) : (!ckks.ciphertext, !ckks.plaintext) -> !ckks.ciphertext
// CHECK-NEXT: %9 = "ckks.add_scalar"(%8) <{value = 5.000000e-01 : f64}> : (!ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %10 = "ckks.multiply_scalar"(%9) <{value = 1.000000e-01 : f64, scale = 1.000000e+00 : f64}> : (!ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %11 = "ckks.add_many"(%10, %x, %9) <{operandSegmentSizes = array<i32: 3, 0>}> : (!ckks.ciphertext, !ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %12 = "ckks.sum_plaintext_products"(%11, %x, %p, %p) <{operandSegmentSizes = array<i32: 2, 2, 0>}> : (!ckks.ciphertext, !ckks.ciphertext, !ckks.plaintext, !ckks.plaintext) -> !ckks.ciphertext
// CHECK-NEXT: %13 = "ckks.rotate"(%12, %r) <{step = 3 : i64, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ckks.ciphertext, !ckks.rotation_key) -> !ckks.ciphertext
// CHECK-NEXT: %14 = "ckks.rotate"(%13) <{step = 5 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %15 = "ckks.conjugate"(%14, %j) : (!ckks.ciphertext, !ckks.conjugation_key) -> !ckks.ciphertext
// CHECK-NEXT: %16, %17 = "ckks.rotate_many"(%15, %r, %r) <{steps = [3 : i64, 3 : i64], operandSegmentSizes = array<i32: 1, 2, 0>}> : (!ckks.ciphertext, !ckks.rotation_key, !ckks.rotation_key) -> (!ckks.ciphertext, !ckks.ciphertext)
// CHECK-NEXT: %18 = "ckks.switch_key"(%16, %w) <{source_key_id = "cafe"}> : (!ckks.ciphertext, !ckks.switching_key) -> !ckks.ciphertext
// CHECK-NEXT: %19 = "ckks.rescale"(%18) <{rounding = "truncate"}> : (!ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %20 = "ckks.mod_switch"(%19) <{depth = 2 : i64}> : (!ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %21 = "ckks.align"(%20) <{depth = 3 : i64}> : (!ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %22 = "ckks.reinterpret_scale"(%21) <{scale = 5.000000e+08 : f64}> : (!ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %23 = "ckks.assume_message_bound"(%22) <{bound = 5.000000e-01 : f64}> : (!ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %24 = "ckks.coefficient_to_ntt"(%23) : (!ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %25 = "ckks.ntt_to_coefficient"(%24) : (!ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %26 = "ckks.from_montgomery"(%25) : (!ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %27 = "ckks.multiply_plaintext_rescale"(%26, %p) : (!ckks.ciphertext, !ckks.plaintext) -> !ckks.ciphertext
// CHECK-NEXT: func.return %27 : !ckks.ciphertext
// -----
func.func @f(%x: !ckks.plaintext {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.negate"(%x) : (!ckks.plaintext) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: ProgramError: Program.verify: operation 0 (ckks.negate): operand 'ciphertext' at position 0 does not verify: !ckks.plaintext should be of base attribute ckks.ciphertext. Every operation obeys its declaration. Correct it.
// -----
func.func @f(%x: !ckks.ciphertext {core.name = "x"}, %y: !ckks.plaintext {core.name = "y"}) -> !ckks.ciphertext {
  %0 = "ckks.add"(%x, %y) : (!ckks.ciphertext, !ckks.plaintext) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: ProgramError: Program.verify: operation 0 (ckks.add): operand 'rhs' at position 1 does not verify: !ckks.plaintext should be of base attribute ckks.ciphertext. Every operation obeys its declaration. Correct it.
// -----
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.mod_switch"(%x) : (!ckks.ciphertext) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: ProgramError: Program.verify: operation 0 (ckks.mod_switch): property 'depth' expected in operation 'ckks.mod_switch'. Every operation obeys its declaration. Correct it.
// -----
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.mod_switch"(%x) <{depth = "two"}> : (!ckks.ciphertext) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: ProgramError: Program.verify: operation 0 (ckks.mod_switch): "two" should be of base attribute integer. Every operation obeys its declaration. Correct it.
// -----
func.func @f(%x: !ckks.ciphertext<depth = -1> {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.square"(%x) : (!ckks.ciphertext<depth = -1>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: ProgramError: Program.parse: the text of <text> cannot be read: <text>:1:43 func.func @f(%x: !ckks.ciphertext<depth = -1> {core.name = "x"}) -> !ckks.ciphertext { Expected integer literal. A Program is MLIR text over the dialects core, semantic, logical, codec, ckks, rns, ntt. Correct the text at that place.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}, %y: !ckks.ciphertext<depth = 1> {core.name = "y"}) -> !ckks.ciphertext {
  %0 = "ckks.add"(%x, %y) : (!ckks.ciphertext<depth = 0>, !ckks.ciphertext<depth = 1>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: StateError: operation 0 (ckks.add): depth is 0 for lhs and 1 for rhs. Depths must agree. Bring both to one depth with engine.align_to_depth(value, depth).
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext<scale = 1.000000e+09> {core.name = "x"}, %y: !ckks.ciphertext<scale = 2.000000e+09> {core.name = "y"}) -> !ckks.ciphertext {
  %0 = "ckks.subtract"(%x, %y) : (!ckks.ciphertext<scale = 1.000000e+09>, !ckks.ciphertext<scale = 2.000000e+09>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: StateError: operation 0 (ckks.subtract): scale is 2^29.8974 (1000000000.0) for lhs and 2^30.8974 (2000000000.0) for rhs. Scales must agree. Bring both to the canonical scale of one depth with engine.align_to_depth(value, depth).
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext<polynomial_domain = coefficient> {core.name = "x"}, %y: !ckks.ciphertext<polynomial_domain = ntt> {core.name = "y"}) -> !ckks.ciphertext {
  %0 = "ckks.multiply"(%x, %y) : (!ckks.ciphertext<polynomial_domain = coefficient>, !ckks.ciphertext<polynomial_domain = ntt>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: StateError: operation 0 (ckks.multiply): polynomial_domain is coefficient for lhs and ntt for rhs. Polynomial domains must agree. Convert one with engine.coefficient_domain_to_ntt_domain(value) or engine.ntt_domain_to_coefficient_domain(value).
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext<components = 3> {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.square"(%x) : (!ckks.ciphertext<components = 3>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: StateError: operation 0 (ckks.square): the ciphertext's components is 3, needed is 2. This operation takes 2 only. Relinearize it first with engine.relinearize.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext<modulus_basis = QP> {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.negate"(%x) : (!ckks.ciphertext<modulus_basis = QP>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: StateError: operation 0 (ckks.negate): the ciphertext's modulus basis is QP, needed is Q. This operation takes Q only. Bring it down with a mod_down.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext<residue_representation = montgomery> {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.negate"(%x) : (!ckks.ciphertext<residue_representation = montgomery>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: StateError: operation 0 (ckks.negate): the ciphertext's residue representation is montgomery, needed is standard. This operation takes standard only. Convert it with a from-Montgomery transition.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext<components = 2> {core.name = "x"}, %y: !ckks.relinearization_key {core.name = "y"}) -> !ckks.ciphertext {
  %0 = "ckks.relinearize"(%x, %y) : (!ckks.ciphertext<components = 2>, !ckks.relinearization_key) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: StateError: operation 0 (ckks.relinearize): the ciphertext's components is 2, needed is 3. This operation takes 3 only. Only the product of two ciphertexts has three components.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext<depth = 3> {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.rescale"(%x) : (!ckks.ciphertext<depth = 3>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: DepthExhaustedError: operation 0 (ckks.rescale): the ciphertext is at depth 3, the largest depth is 3. Every rescale drops one prime and the base prime stays. Choose a preset with more depth, such as slots4096_scale30_depth4_int64, or rescale less.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext<depth = 2> {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.mod_switch"(%x) <{depth = 1 : i64}> : (!ckks.ciphertext<depth = 2>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: StateError: operation 0 (ckks.mod_switch): the operand is at depth 2, asked for is 1. Depth only grows; dropped primes cannot come back. Encrypt anew, or bring the other operand down instead.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.square"(%x) <{output_domain = "wavelet"}> : (!ckks.ciphertext) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: StateError: operation 0 (ckks.square): output_domain is 'wavelet', needed is 'coefficient' or 'ntt'. A polynomial is kept as coefficients or as NTT values. Pass one of the two, or omit output_domain.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext<polynomial_domain = ntt> {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.coefficient_to_ntt"(%x) : (!ckks.ciphertext<polynomial_domain = ntt>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: StateError: operation 0 (ckks.coefficient_to_ntt): the ciphertext's polynomial domain is ntt, needed is coefficient. This operation takes coefficient only. It needs no conversion.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext<residue_representation = standard> {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.from_montgomery"(%x) : (!ckks.ciphertext<residue_representation = standard>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: StateError: operation 0 (ckks.from_montgomery): the ciphertext's residue representation is standard, needed is montgomery. This operation takes montgomery only. It is in standard form already.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}, %y: !ckks.plaintext<depth = 0, polynomial_domain = coefficient> {core.name = "y"}) -> !ckks.ciphertext {
  %0 = "ckks.multiply_plaintext"(%x, %y) : (!ckks.ciphertext<depth = 0>, !ckks.plaintext<depth = 0, polynomial_domain = coefficient>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: StateError: operation 0 (ckks.multiply_plaintext): the plaintext's polynomial domain is coefficient, needed is ntt. This operation takes ntt only. Prepare it with engine.prepare_plaintext(..., for_="multiply").
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.assume_message_bound"(%x) <{bound = -1.0 : f64}> : (!ckks.ciphertext) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: StateError: operation 0 (ckks.assume_message_bound): bound is -1.0. A bound is a finite number above 0, in message units. Pass the largest magnitude that any slot can have.
// -----
func.func @f(%x: !ckks.ciphertext {core.name = "x"}, %y: !ckks.ciphertext {core.name = "y"}) -> !ckks.ciphertext {
  %0 = "ckks.bound_by"(%x, %y) <{factor = 2.000000e+00 : f64}> : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: %0 = "ckks.bound_by"(%x, %y) <{factor = 2.000000e+00 : f64}> : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: func.return %0 : !ckks.ciphertext
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext {core.name = "x"}, %y: !ckks.ciphertext {core.name = "y"}) -> !ckks.ciphertext {
  %0 = "ckks.bound_by"(%x, %y) <{factor = -1.0 : f64}> : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: StateError: operation 0 (ckks.bound_by): factor is -1.0. A factor is a finite number above 0. Pass how many times the other's largest slot a slot can be.
