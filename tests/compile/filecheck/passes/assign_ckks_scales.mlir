// RUN: AssignCkksScalesPass(entry_scale=2.0**20)
func.func @f(%x: !ckks.ciphertext {core.name = "x"}, %y: !ckks.ciphertext<scale = 4.0> {core.name = "y"}) -> (!ckks.ciphertext, !ckks.ciphertext) {
  %0 = "ckks.square"(%x) : (!ckks.ciphertext) -> !ckks.ciphertext
  %1 = "ckks.negate"(%y) : (!ckks.ciphertext<scale = 4.0>) -> !ckks.ciphertext
  func.return %0, %1 : !ckks.ciphertext, !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext<scale = 1048576.0> {core.name = "x"}, %y: !ckks.ciphertext<scale = 4.0> {core.name = "y"}) -> (!ckks.ciphertext<scale = 1099511627776.0, components = 3>, !ckks.ciphertext<scale = 4.0>) {
// CHECK-NEXT: %0 = "ckks.square"(%x) : (!ckks.ciphertext<scale = 1048576.0>) -> !ckks.ciphertext<scale = 1099511627776.0, components = 3>
// CHECK-NEXT: %1 = "ckks.negate"(%y) : (!ckks.ciphertext<scale = 4.0>) -> !ckks.ciphertext<scale = 4.0>
// CHECK-NEXT: func.return %0, %1 : !ckks.ciphertext<scale = 1099511627776.0, components = 3>, !ckks.ciphertext<scale = 4.0>
// -----
// RUN: AssignCkksScalesPass()
func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}, %y: !ckks.ciphertext {core.name = "y"}) -> !ckks.ciphertext {
  %0 = "ckks.negate"(%x) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext
  %1 = "ckks.negate"(%y) : (!ckks.ciphertext) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0> {core.name = "x"}, %y: !ckks.ciphertext {core.name = "y"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0> {
// CHECK-NEXT: %0 = "ckks.negate"(%x) : (!ckks.ciphertext<depth = 0, scale = 1073741824.0>) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0>
// CHECK-NEXT: %1 = "ckks.negate"(%y) : (!ckks.ciphertext) -> !ckks.ciphertext
// CHECK-NEXT: func.return %0 : !ckks.ciphertext<depth = 0, scale = 1073741824.0>
// -----
// RUN: AssignCkksScalesPass(entry_scale=0.5)
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
  func.return %x : !ckks.ciphertext
}
// CHECK: PassError: AssignCkksScalesPass: operation 0 (inputs): entry_scale is 0.5. A scale is a finite number of at least 1. Pass config.default_scale, or leave it out.
