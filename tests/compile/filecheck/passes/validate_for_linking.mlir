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
// CHECK: LinkError: operation 0 (semantic.negate): it belongs to the dialect semantic. Linked are operations of ckks, rns and ntt. Lower it first, with LowerSemanticToLogicalPass and LowerLogicalToCkksPass.
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
