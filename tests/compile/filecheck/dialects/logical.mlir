func.func @f(%x: !logical.encrypted {core.name = "x"}, %y: !logical.encrypted {core.name = "y"}) -> !logical.encrypted {
  %0 = "logical.add"(%x, %y) : (!logical.encrypted, !logical.encrypted) -> !logical.encrypted
  %1 = "logical.subtract"(%0, %y) : (!logical.encrypted, !logical.encrypted) -> !logical.encrypted
  %2 = "logical.multiply"(%1, %y) : (!logical.encrypted, !logical.encrypted) -> !logical.encrypted
  %3 = "logical.negate"(%2) : (!logical.encrypted) -> !logical.encrypted
  %4 = "logical.roll"(%3) <{step = -3 : i64}> : (!logical.encrypted) -> !logical.encrypted
  %5 = "logical.add_scalar"(%4) <{value = 5.000000e-01 : f64}> : (!logical.encrypted) -> !logical.encrypted
  %6 = "logical.multiply_scalar"(%5) <{value = 123456789.0 : f64}> : (!logical.encrypted) -> !logical.encrypted
  %7 = "logical.assume_message_bound"(%6) <{bound = 2.000000e+00 : f64}> : (!logical.encrypted) -> !logical.encrypted
  func.return %7 : !logical.encrypted
}
// CHECK: func.func @f(%x: !logical.encrypted {core.name = "x"}, %y: !logical.encrypted {core.name = "y"}) -> !logical.encrypted {
// CHECK-NEXT: %0 = "logical.add"(%x, %y) : (!logical.encrypted, !logical.encrypted) -> !logical.encrypted
// CHECK-NEXT: %1 = "logical.subtract"(%0, %y) : (!logical.encrypted, !logical.encrypted) -> !logical.encrypted
// CHECK-NEXT: %2 = "logical.multiply"(%1, %y) : (!logical.encrypted, !logical.encrypted) -> !logical.encrypted
// CHECK-NEXT: %3 = "logical.negate"(%2) : (!logical.encrypted) -> !logical.encrypted
// CHECK-NEXT: %4 = "logical.roll"(%3) <{step = -3 : i64}> : (!logical.encrypted) -> !logical.encrypted
// CHECK-NEXT: %5 = "logical.add_scalar"(%4) <{value = 5.000000e-01 : f64}> : (!logical.encrypted) -> !logical.encrypted
// CHECK-NEXT: %6 = "logical.multiply_scalar"(%5) <{value = 0x419D6F3454000000 : f64}> : (!logical.encrypted) -> !logical.encrypted
// CHECK-NEXT: %7 = "logical.assume_message_bound"(%6) <{bound = 2.000000e+00 : f64}> : (!logical.encrypted) -> !logical.encrypted
// CHECK-NEXT: func.return %7 : !logical.encrypted
// -----
func.func @f(%x: !logical.message {core.name = "x"}, %y: !logical.plaintext<depth = 1> {core.name = "y"}) -> !logical.plaintext {
  %0 = "logical.multiply"(%x, %y) : (!logical.message, !logical.plaintext<depth = 1>) -> !logical.plaintext
  func.return %0 : !logical.plaintext
}
// CHECK: func.func @f(%x: !logical.message {core.name = "x"}, %y: !logical.plaintext<depth = 1> {core.name = "y"}) -> !logical.plaintext {
// CHECK-NEXT: %0 = "logical.multiply"(%x, %y) : (!logical.message, !logical.plaintext<depth = 1>) -> !logical.plaintext
// CHECK-NEXT: func.return %0 : !logical.plaintext
// -----
func.func @f(%x: !semantic.tensor {core.name = "x"}) -> !logical.encrypted {
  %0 = "logical.negate"(%x) : (!semantic.tensor) -> !logical.encrypted
  func.return %0 : !logical.encrypted
}
// CHECK: ProgramError: Program.verify: operation 0 (logical.negate): operand 'input' at position 0 does not verify: !semantic.tensor should be of attribute subclassing `RoleType`. Every operation obeys its declaration. Correct it.
// -----
func.func @f(%x: !logical.message<depth = 1> {core.name = "x"}) -> !logical.encrypted {
  func.return %x : !logical.encrypted
}
// CHECK: ProgramError: Program.parse: the text of <text> cannot be read: <text>:1:35 func.func @f(%x: !logical.message<depth = 1> {core.name = "x"}) -> !logical.encrypted { logical.message has no axis 'depth', it has slots. A Program is MLIR text over the dialects core, semantic, logical, codec, ckks, rns, ntt. Correct the text at that place.
// -----
func.func @f(%x: !logical.encrypted<slots = 4> {core.name = "x"}) -> !logical.encrypted {
  %0 = "logical.sum"(%x) <{period = 4 : i64}> : (!logical.encrypted<slots = 4>) -> !logical.encrypted
  %1 = "logical.sum"(%0) : (!logical.encrypted) -> !logical.encrypted
  func.return %1 : !logical.encrypted
}
// CHECK: func.func @f(%x: !logical.encrypted<slots = 4> {core.name = "x"}) -> !logical.encrypted {
// CHECK-NEXT: %0 = "logical.sum"(%x) <{period = 4 : i64}> : (!logical.encrypted<slots = 4>) -> !logical.encrypted
// CHECK-NEXT: %1 = "logical.sum"(%0) : (!logical.encrypted) -> !logical.encrypted
// CHECK-NEXT: func.return %1 : !logical.encrypted
// -----
func.func @f(%x: !logical.encrypted {core.name = "x"}, %y: !logical.encrypted {core.name = "y"}) -> !logical.encrypted {
  %0 = "logical.bound_by"(%x, %y) <{factor = 2.000000e+00 : f64}> : (!logical.encrypted, !logical.encrypted) -> !logical.encrypted
  func.return %0 : !logical.encrypted
}
// CHECK: %0 = "logical.bound_by"(%x, %y) <{factor = 2.000000e+00 : f64}> : (!logical.encrypted, !logical.encrypted) -> !logical.encrypted
// CHECK-NEXT: func.return %0 : !logical.encrypted
