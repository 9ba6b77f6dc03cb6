// RUN: OpenStatesPass()
func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}, %y: !ckks.ciphertext<depth = 1> {core.name = "y"}) -> !ckks.ciphertext {
  %0 = "ckks.add"(%x, %y) : (!ckks.ciphertext<depth = 0>, !ckks.ciphertext<depth = 1>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: builtin.module attributes {ckks.states = "open"} {
// CHECK-NEXT: func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}, %y: !ckks.ciphertext<depth = 1> {core.name = "y"}) -> !ckks.ciphertext {
// CHECK-NEXT: %0 = "ckks.add"(%x, %y) : (!ckks.ciphertext<depth = 0>, !ckks.ciphertext<depth = 1>) -> !ckks.ciphertext
// CHECK-NEXT: func.return %0 : !ckks.ciphertext
