// RUN: AssignNttImplementationPass("native-ntt", ntt_backend="radix2_indexed")
func.func @f(%x: !rns.residues {core.name = "x"}) -> !rns.residues {
  %0 = "ntt.forward"(%x) : (!rns.residues) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: builtin.module attributes {ntt.implementation = "native-ntt", ntt.backend = "radix2_indexed"} {
// CHECK-NEXT: func.func @f(%x: !rns.residues {core.name = "x"}) -> !rns.residues<polynomial_domain = ntt> {
// CHECK-NEXT: %0 = "ntt.forward"(%x) <{ntt_backend = "radix2_indexed"}> : (!rns.residues) -> !rns.residues<polynomial_domain = ntt>
// CHECK-NEXT: func.return %0 : !rns.residues<polynomial_domain = ntt>
// -----
// RUN: AssignNttImplementationPass("other-ntt")
func.func @f(%x: !rns.residues {core.name = "x"}) -> !rns.residues {
  %0 = "ntt.forward"(%x) : (!rns.residues) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: builtin.module attributes {ntt.implementation = "other-ntt", ntt.backend = "packed"} {
// CHECK-NEXT: func.func @f(%x: !rns.residues {core.name = "x"}) -> !rns.residues<polynomial_domain = ntt> {
// CHECK-NEXT: %0 = "ntt.forward"(%x) <{ntt_backend = "packed"}> : (!rns.residues) -> !rns.residues<polynomial_domain = ntt>
// CHECK-NEXT: func.return %0 : !rns.residues<polynomial_domain = ntt>
// -----
// RUN: AssignNttImplementationPass("native-ntt", ntt_backend="radix3")
func.func @f(%x: !rns.residues {core.name = "x"}) -> !rns.residues {
  %0 = "ntt.forward"(%x) : (!rns.residues) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: ImplementationError: ntt_backend: asked for 'radix3', there are ['packed', 'radix2_indexed']. An NTT backend is chosen by name. Use one of these names.
