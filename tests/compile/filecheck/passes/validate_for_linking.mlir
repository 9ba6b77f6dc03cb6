// RUN: ValidateForLinkingPass()
func.func @f(%x: !ckks.ciphertext {core.name = "x"}, %p: !ckks.plaintext {core.name = "p"}, %m: !codec.message {core.name = "m"}) -> !ckks.ciphertext {
  %0 = "ckks.negate"(%x) : (!ckks.ciphertext) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext {core.name = "x"}, %p: !ckks.plaintext {core.name = "p"}, %m: !codec.message {core.name = "m"}) -> !ckks.ciphertext {
// CHECK-NEXT: %0 = "ckks.negate"(%x) : (!ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: func.return %0 : !ckks.ciphertext
// -----
// RUN: ValidateForLinkingPass()
func.func @f(%x: !semantic.tensor<role = encrypted> {core.name = "x"}) -> !semantic.tensor {
  %0 = "semantic.negate"(%x) : (!semantic.tensor<role = encrypted>) -> !semantic.tensor
  func.return %0 : !semantic.tensor
}
// CHECK: LinkError: operation 0 (semantic.negate): it belongs to the dialect semantic. Linked are operations of ckks, rns and ntt, scf.for and scf.if, and arith on public integers. Lower it first, with LowerSemanticToLogicalPass and LowerLogicalToCkksPass.
// -----
// RUN: ValidateForLinkingPass()
func.func @f(%x: !rns.residues {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "core.cast"(%x) : (!rns.residues) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: LinkError: input x: its type is !rns.residues. A Program's inputs and outputs are ciphertexts and plaintexts. Cast residues to such a type at the border, with core.cast.
// -----
// RUN: ValidateForLinkingPass()
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !rns.residues {
  %0 = "core.cast"(%x) : (!ckks.ciphertext) -> !rns.residues
  func.return %0 : !rns.residues
}
// CHECK: LinkError: output 0: its type is !rns.residues. A Program's inputs and outputs are ciphertexts and plaintexts. Cast residues to such a type at the border, with core.cast.
// -----
// RUN: ValidateForLinkingPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = scf.for %k = %0 to %n step %n iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) {
    %9 = "ckks.negate"(%v) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
    scf.yield %9 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
  }
  func.return %2 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
}
// CHECK: LinkError: operation 2 (scf.for): its step is no constant above 0. A loop counts upwards. Write its step as arith.constant 1 : index.
// -----
// RUN: ValidateForLinkingPass()
func.func @f(%x: !ckks.ciphertext {core.name = "x"}, %n: index {core.name = "n"}) -> (!ckks.ciphertext, index) {
  func.return %x, %n : !ckks.ciphertext, index
}
// CHECK: LinkError: output 1: its type is index. A Program's inputs and outputs are ciphertexts and plaintexts. Cast residues to such a type at the border, with core.cast.
