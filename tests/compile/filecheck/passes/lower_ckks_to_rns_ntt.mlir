// RUN: AssignCkksDepthsPass()
// RUN: LowerCkksToRnsNttPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2> {core.name = "x"}, %y: !ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2> {core.name = "y"}) -> !ckks.ciphertext {
  %0 = "ckks.subtract"(%x, %y) : (!ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2>, !ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2>) -> !ckks.ciphertext
  %1 = "ckks.negate"(%0) : (!ckks.ciphertext) -> !ckks.ciphertext
  func.return %1 : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2> {core.name = "x"}, %y: !ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2> {core.name = "y"}) -> !ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2> {
// CHECK-NEXT: %0 = "core.material"() <{symbol = "rns_parameters/Q/0"}> : () -> !rns.table
// CHECK-NEXT: %1 = "core.cast"(%x) : (!ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2>) -> !rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q, components = 2>
// CHECK-NEXT: %2 = "core.cast"(%y) : (!ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2>) -> !rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q, components = 2>
// CHECK-NEXT: %3 = "rns.subtract_standard"(%1, %2, %0) : (!rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q, components = 2>, !rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q, components = 2>, !rns.table) -> !rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q, components = 2>
// CHECK-NEXT: %4 = "rns.negate_standard"(%3, %0) : (!rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q, components = 2>, !rns.table) -> !rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q, components = 2>
// CHECK-NEXT: %5 = "core.cast"(%4) : (!rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q, components = 2>) -> !ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2>
// CHECK-NEXT: func.return %5 : !ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2>
// -----
// RUN: AssignCkksDepthsPass()
// RUN: LowerCkksToRnsNttPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "x"}) -> !ckks.ciphertext {
  %k = "core.material"() <{symbol = "relinearization-key"}> : () -> !ckks.relinearization_key
  %0 = "ckks.square"(%x) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %1 = "ckks.relinearize"(%0, %k) : (!ckks.ciphertext, !ckks.relinearization_key) -> !ckks.ciphertext
  %2 = "ckks.rescale"(%1) : (!ckks.ciphertext) -> !ckks.ciphertext
  func.return %2 : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "x"}) -> !ckks.ciphertext<depth = 1, polynomial_domain = ntt, components = 2> {
// CHECK-NEXT: %k = "core.material"() <{symbol = "relinearization-key"}> : () -> !ckks.relinearization_key
// CHECK-NEXT: %0 = "core.material"() <{symbol = "rns_parameters/Q/0"}> : () -> !rns.table
// CHECK-NEXT: %1 = "core.material"() <{symbol = "mod_up/0/digit_bounds"}> : () -> !rns.table
// CHECK-NEXT: %2 = "core.material"() <{symbol = "mod_up/0/digit_scale"}> : () -> !rns.table
// CHECK-NEXT: %3 = "core.material"() <{symbol = "mod_up/0/matrix"}> : () -> !rns.table
// CHECK-NEXT: %4 = "core.material"() <{symbol = "mod_up/0/correction"}> : () -> !rns.table
// CHECK-NEXT: %5 = "core.material"() <{symbol = "rns_parameters/QP/0"}> : () -> !rns.table
// CHECK-NEXT: %6 = "core.material"() <{symbol = "mod_down/0/special_scale"}> : () -> !rns.table
// CHECK-NEXT: %7 = "core.material"() <{symbol = "mod_down/0/matrix"}> : () -> !rns.table
// CHECK-NEXT: %8 = "core.material"() <{symbol = "mod_down/0/correction"}> : () -> !rns.table
// CHECK-NEXT: %9 = "core.material"() <{symbol = "mod_down/0/special_inverse"}> : () -> !rns.table
// CHECK-NEXT: %10 = "core.material"() <{symbol = "rescale/0/inverse"}> : () -> !rns.table
// CHECK-NEXT: %11 = "core.cast"(%x) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q, components = 2>
// CHECK-NEXT: %12 = "rns.ciphertext_square"(%11, %0) : (!rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q, components = 2>, !rns.table) -> !rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q, components = 3>
// CHECK-NEXT: %13 = "core.cast"(%k) : (!ckks.relinearization_key) -> !rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = QP, residue_representation = montgomery>
// CHECK-NEXT: %14 = "rns.first_components"(%12) <{count = 2 : i64}> : (!rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q, components = 3>) -> !rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q, components = 2>
// CHECK-NEXT: %15 = "rns.component"(%12) <{index = 2 : i64}> : (!rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q, components = 3>) -> !rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q, components = 1>
// CHECK-NEXT: %16 = "ntt.inverse"(%15) <{ntt_backend = "packed"}> : (!rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q, components = 1>) -> !rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q, components = 1>
// CHECK-NEXT: %17 = "rns.mod_up"(%16, %1, %2, %3, %4, %5) : (!rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q, components = 1>, !rns.table, !rns.table, !rns.table, !rns.table, !rns.table) -> !rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = QP, components = 1>
// CHECK-NEXT: %18 = "ntt.forward"(%17) <{ntt_backend = "packed"}> : (!rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = QP, components = 1>) -> !rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = QP, components = 1>
// CHECK-NEXT: %19 = "rns.key_switch_inner_product"(%18, %13, %5) : (!rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = QP, components = 1>, !rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = QP, residue_representation = montgomery>, !rns.table) -> !rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = QP, components = 2>
// CHECK-NEXT: %20 = "ntt.inverse"(%19) <{ntt_backend = "packed"}> : (!rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = QP, components = 2>) -> !rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = QP, components = 2>
// CHECK-NEXT: %21 = "rns.mod_down"(%20, %6, %7, %8, %9, %5) : (!rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = QP, components = 2>, !rns.table, !rns.table, !rns.table, !rns.table, !rns.table) -> !rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q, components = 2>
// CHECK-NEXT: %22 = "ntt.forward"(%21) <{ntt_backend = "packed"}> : (!rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q, components = 2>) -> !rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q, components = 2>
// CHECK-NEXT: %23 = "rns.add_standard"(%22, %14, %0) : (!rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q, components = 2>, !rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q, components = 2>, !rns.table) -> !rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q, components = 2>
// CHECK-NEXT: %24 = "ntt.inverse"(%23) <{ntt_backend = "packed"}> : (!rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q, components = 2>) -> !rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q, components = 2>
// CHECK-NEXT: %25 = "rns.rescale"(%24, %10, %0) : (!rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q, components = 2>, !rns.table, !rns.table) -> !rns.residues<depth = 1, polynomial_domain = coefficient, modulus_basis = Q, components = 2>
// CHECK-NEXT: %26 = "ntt.forward"(%25) <{ntt_backend = "packed"}> : (!rns.residues<depth = 1, polynomial_domain = coefficient, modulus_basis = Q, components = 2>) -> !rns.residues<depth = 1, polynomial_domain = ntt, modulus_basis = Q, components = 2>
// CHECK-NEXT: %27 = "core.cast"(%26) : (!rns.residues<depth = 1, polynomial_domain = ntt, modulus_basis = Q, components = 2>) -> !ckks.ciphertext<depth = 1, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: func.return %27 : !ckks.ciphertext<depth = 1, polynomial_domain = ntt, components = 2>
// -----
// RUN: LowerCkksToRnsNttPass()
func.func @f(%x: !ckks.ciphertext<polynomial_domain = ntt> {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.negate"(%x) : (!ckks.ciphertext<polynomial_domain = ntt>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: PassError: LowerCkksToRnsNttPass: operation 0 (ckks.negate): the depth of an operand is not known. Residue operations are those of one depth and domain. Name it in the input's spec, or run AssignCkksDepthsPass and AssignCkksScalesPass first.
// -----
// RUN: LowerCkksToRnsNttPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.rotate"(%x) <{step = 3 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: PassError: LowerCkksToRnsNttPass: operation 0 (ckks.rotate): its key operand is open. A key switch reads its key. Run ResolveRotationKeyOperandsPass first.
// -----
// RUN: PrepareOperationOperandsPass(registry)
// RUN: LowerCkksToRnsNttPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.negate"(%x) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: PassError: LowerCkksToRnsNttPass: operation 1 (ckks.negate): it names 1 tables of a whole-operation implementation. The composition of an operation reads tables of its own. Lower before PrepareOperationOperandsPass.
// -----
// RUN: LowerCkksToRnsNttPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = scf.for %k = %0 to %n step %1 iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) {
    %9 = "ckks.negate"(%v) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
    scf.yield %9 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
  }
  func.return %2 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {
// CHECK-NEXT: %0 = "core.material"() <{symbol = "rns_parameters/Q/0"}> : () -> !rns.table
// CHECK-NEXT: %1 = arith.constant 0 : index
// CHECK-NEXT: %2 = arith.constant 1 : index
// CHECK-NEXT: %3 = scf.for %k = %1 to %n step %2 iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) {
// CHECK-NEXT: %4 = "core.cast"(%v) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q, components = 2>
// CHECK-NEXT: %5 = "rns.negate_standard"(%4, %0) : (!rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q, components = 2>, !rns.table) -> !rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q, components = 2>
// CHECK-NEXT: %6 = "core.cast"(%5) : (!rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, components = 2>
// CHECK-NEXT: %7 = "core.cast"(%6) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, modulus_basis = Q, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: scf.yield %7 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %3 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: }
