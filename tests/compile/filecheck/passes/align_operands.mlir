// RUN: OpenStatesPass()
// RUN: AssignCkksScalesPass()
// RUN: AlignOperandsPass()
func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}, %y: !ckks.ciphertext<depth = 2> {core.name = "y"}) -> !ckks.ciphertext {
  %0 = "ckks.add"(%x, %y) : (!ckks.ciphertext<depth = 0>, !ckks.ciphertext<depth = 2>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0> {core.name = "x"}, %y: !ckks.ciphertext<depth = 2, scale = 1073760253.7851112> {core.name = "y"}) -> !ckks.ciphertext<depth = 2, scale = 1073760253.7851112> {
// CHECK-NEXT: %0 = "ckks.align"(%x) <{depth = 2 : i64}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0>) -> !ckks.ciphertext<depth = 2, scale = 1073760253.7851112>
// CHECK-NEXT: %1 = "ckks.add"(%0, %y) : (!ckks.ciphertext<depth = 2, scale = 1073760253.7851112>, !ckks.ciphertext<depth = 2, scale = 1073760253.7851112>) -> !ckks.ciphertext<depth = 2, scale = 1073760253.7851112>
// CHECK-NEXT: func.return %1 : !ckks.ciphertext<depth = 2, scale = 1073760253.7851112>
// -----
// RUN: OpenStatesPass()
// RUN: AlignOperandsPass()
func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}, %y: !ckks.ciphertext<depth = 2> {core.name = "y"}) -> !ckks.ciphertext {
  %0 = "ckks.add"(%x, %y) : (!ckks.ciphertext<depth = 0>, !ckks.ciphertext<depth = 2>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: PassError: AlignOperandsPass: operation 0 (input x): its scale is not known. Alignment computes with depths and scales. Name it in the input's spec, or run AssignCkksDepthsPass and AssignCkksScalesPass first.
