// RUN: SelectNttImplementationsPass(registry)
func.func @f(%x: !rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q> {core.name = "x"}) -> !rns.residues {
  %0 = "ntt.forward"(%x) : (!rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q>) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: func.func @f(%x: !rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q> {core.name = "x"}) -> !rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q> {
// CHECK-NEXT: %0 = "ntt.forward"(%x) {core.implementation = "native-ntt-packed"} : (!rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q>) -> !rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q>
// CHECK-NEXT: func.return %0 : !rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q>
// -----
// RUN: AssignNttImplementationPass("native-ntt", ntt_backend="radix2_indexed")
// RUN: SelectNttImplementationsPass(registry)
func.func @f(%x: !rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q> {core.name = "x"}) -> !rns.residues {
  %0 = "ntt.forward"(%x) : (!rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q>) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: builtin.module attributes {ntt.implementation = "native-ntt", ntt.backend = "radix2_indexed"} {
// CHECK-NEXT: func.func @f(%x: !rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q> {core.name = "x"}) -> !rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q> {
// CHECK-NEXT: %0 = "ntt.forward"(%x) <{ntt_backend = "radix2_indexed"}> {core.implementation = "native-ntt-radix2-indexed"} : (!rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q>) -> !rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q>
// CHECK-NEXT: func.return %0 : !rns.residues<depth = 0, polynomial_domain = ntt, modulus_basis = Q>
// -----
// RUN: AssignNttImplementationPass("other-ntt")
// RUN: SelectNttImplementationsPass(registry)
func.func @f(%x: !rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q> {core.name = "x"}) -> !rns.residues {
  %0 = "ntt.forward"(%x) : (!rns.residues<depth = 0, polynomial_domain = coefficient, modulus_basis = Q>) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: ImplementationError: ntt.forward: no implementation named 'other-ntt' serves it with attributes {'ntt_backend': 'packed', 'depth': 0, 'polynomial_domain': 'coefficient', 'modulus_basis': 'Q'}; registered for it: ['native-ntt-packed', 'native-ntt-radix2-indexed']. Exactly one implementation serves a call. Register one with registry.extended(...), or ask for a registered name.
// -----
// RUN: SelectNttImplementationsPass(registry)
func.func @f(%x: !rns.residues {core.name = "x"}) -> !rns.residues {
  %0 = "ntt.forward"(%x) : (!rns.residues) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: PassError: ntt.forward: the depth of its operand is not known. A call of an implementation has all its facts. Name it in the input's spec, or run AssignCkksDepthsPass and AssignCkksScalesPass first.
