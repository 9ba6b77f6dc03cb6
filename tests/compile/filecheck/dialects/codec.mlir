func.func @f(%m: !codec.message {core.name = "m"}, %x: !ckks.ciphertext {core.name = "x"}) -> !ckks.plaintext {
  %0 = "codec.prepare_plaintext"(%m, %x) <{for_ = "multiply"}> : (!codec.message, !ckks.ciphertext) -> !ckks.plaintext
  func.return %0 : !ckks.plaintext
}
// CHECK: func.func @f(%m: !codec.message {core.name = "m"}, %x: !ckks.ciphertext {core.name = "x"}) -> !ckks.plaintext {
// CHECK-NEXT: %0 = "codec.prepare_plaintext"(%m, %x) <{for_ = "multiply"}> : (!codec.message, !ckks.ciphertext) -> !ckks.plaintext
// CHECK-NEXT: func.return %0 : !ckks.plaintext
// -----
func.func @f(%m: !ckks.plaintext {core.name = "m"}, %x: !ckks.ciphertext {core.name = "x"}) -> !ckks.plaintext {
  %0 = "codec.prepare_plaintext"(%m, %x) <{for_ = "multiply"}> : (!ckks.plaintext, !ckks.ciphertext) -> !ckks.plaintext
  func.return %0 : !ckks.plaintext
}
// CHECK: ProgramError: Program.verify: operation 0 (codec.prepare_plaintext): operand 'message' at position 0 does not verify: !ckks.plaintext should be of base attribute codec.message. Every operation obeys its declaration. Correct it.
// -----
// RUN: EliminateDeadValuesPass()
func.func @f(%m: !codec.message {core.name = "m"}, %x: !ckks.ciphertext {core.name = "x"}) -> !ckks.plaintext {
  %0 = "codec.prepare_plaintext"(%m, %x) <{for_ = "divide"}> : (!codec.message, !ckks.ciphertext) -> !ckks.plaintext
  func.return %0 : !ckks.plaintext
}
// CHECK: StateError: operation 0 (codec.prepare_plaintext): for_ is 'divide', needed is 'multiply' or 'add'. A plaintext is prepared for one kind of operation. Pass one of the two.
