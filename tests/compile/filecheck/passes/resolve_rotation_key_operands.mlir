// RUN: ResolveRotationKeyOperandsPass()
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.rotate"(%x) <{step = 3 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ckks.ciphertext) -> !ckks.ciphertext
  %1 = "ckks.rotate"(%0) <{step = -509 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ckks.ciphertext) -> !ckks.ciphertext
  %2 = "ckks.rotate"(%1) <{step = 512 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ckks.ciphertext) -> !ckks.ciphertext
  %3 = "ckks.rotate"(%2) <{step = -1 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ckks.ciphertext) -> !ckks.ciphertext
  func.return %3 : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext<components = 2> {
// CHECK-NEXT: %0 = "core.material"() <{symbol = "rotation-key:3"}> : () -> !ckks.rotation_key
// CHECK-NEXT: %1 = "core.material"() <{symbol = "rotation-key:511"}> : () -> !ckks.rotation_key
// CHECK-NEXT: %2 = "ckks.rotate"(%x, %0) <{step = 3 : i64, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ckks.ciphertext, !ckks.rotation_key) -> !ckks.ciphertext<components = 2>
// CHECK-NEXT: %3 = "ckks.rotate"(%2, %0) <{step = 3 : i64, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ckks.ciphertext<components = 2>, !ckks.rotation_key) -> !ckks.ciphertext<components = 2>
// CHECK-NEXT: %4 = "ckks.rotate"(%3, %1) <{step = 511 : i64, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ckks.ciphertext<components = 2>, !ckks.rotation_key) -> !ckks.ciphertext<components = 2>
// CHECK-NEXT: func.return %4 : !ckks.ciphertext<components = 2>
