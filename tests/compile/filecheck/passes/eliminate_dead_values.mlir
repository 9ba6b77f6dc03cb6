// RUN: EliminateDeadValuesPass()
func.func @f(%x: !ckks.ciphertext {core.name = "x"}, %unused: !ckks.ciphertext {core.name = "unused"}) -> !ckks.ciphertext {
  %0 = "ckks.negate"(%x) : (!ckks.ciphertext) -> !ckks.ciphertext
  %1 = "ckks.add"(%0, %x) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  %2 = "ckks.square"(%1) : (!ckks.ciphertext) -> !ckks.ciphertext
  %3 = "ckks.subtract"(%1, %x) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  func.return %3 : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext {core.name = "x"}, %unused: !ckks.ciphertext {core.name = "unused"}) -> !ckks.ciphertext {
// CHECK-NEXT: %0 = "ckks.negate"(%x) : (!ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %1 = "ckks.add"(%0, %x) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: %2 = "ckks.subtract"(%1, %x) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: func.return %2 : !ckks.ciphertext
