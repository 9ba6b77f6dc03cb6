func.func @f(%x: !rns.residues {core.name = "x"}) -> !rns.residues {
  %0 = "ntt.forward"(%x) : (!rns.residues) -> !rns.residues
  %1 = "ntt.inverse"(%0) <{ntt_backend = "radix2_indexed"}> : (!rns.residues) -> !rns.residues
  func.return %1 : !rns.residues
}
// CHECK: func.func @f(%x: !rns.residues {core.name = "x"}) -> !rns.residues {
// CHECK-NEXT: %0 = "ntt.forward"(%x) : (!rns.residues) -> !rns.residues
// CHECK-NEXT: %1 = "ntt.inverse"(%0) <{ntt_backend = "radix2_indexed"}> : (!rns.residues) -> !rns.residues
// CHECK-NEXT: func.return %1 : !rns.residues
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !rns.residues<polynomial_domain = coefficient> {core.name = "x"}) -> !rns.residues {
  %0 = "ntt.forward"(%x) : (!rns.residues<polynomial_domain = coefficient>) -> !rns.residues
  %1 = "ntt.inverse"(%0) : (!rns.residues) -> !rns.residues
  func.return %1 : !rns.residues
}
// CHECK: func.func @f(%x: !rns.residues<polynomial_domain = coefficient> {core.name = "x"}) -> !rns.residues<polynomial_domain = coefficient> {
// CHECK-NEXT: %0 = "ntt.forward"(%x) : (!rns.residues<polynomial_domain = coefficient>) -> !rns.residues<polynomial_domain = ntt>
// CHECK-NEXT: %1 = "ntt.inverse"(%0) : (!rns.residues<polynomial_domain = ntt>) -> !rns.residues<polynomial_domain = coefficient>
// CHECK-NEXT: func.return %1 : !rns.residues<polynomial_domain = coefficient>
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !rns.residues<polynomial_domain = ntt> {core.name = "x"}) -> !rns.residues {
  %0 = "ntt.forward"(%x) : (!rns.residues<polynomial_domain = ntt>) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: StateError: operation 0 (ntt.forward): the operand's polynomial domain is ntt, needed is coefficient. This operation takes coefficient only. It needs no transform.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%x: !rns.residues<polynomial_domain = coefficient> {core.name = "x"}) -> !rns.residues {
  %0 = "ntt.inverse"(%x) : (!rns.residues<polynomial_domain = coefficient>) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: StateError: operation 0 (ntt.inverse): the operand's polynomial domain is coefficient, needed is ntt. This operation takes ntt only. It needs no transform.
// -----
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !rns.residues {
  %0 = "ntt.inverse"(%x) : (!ckks.ciphertext) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: ProgramError: Program.verify: operation 0 (ntt.inverse): operand 'input' at position 0 does not verify: !ckks.ciphertext should be of base attribute rns.residues. Every operation obeys its declaration. Correct it.
