func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "core.material"() <{symbol = "rotation-key:3"}> : () -> !ckks.rotation_key
  %1 = "core.resource"() <{symbol = "process-group"}> : () -> !core.handle
  %2 = "core.constant"() <{value = [0.1 : f64, -2.0 : f64]}> : () -> !codec.message
  %3 = "core.cast"(%x) : (!ckks.ciphertext) -> !rns.residues<modulus_basis = Q>
  func.return %x : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
// CHECK-NEXT: %0 = "core.material"() <{symbol = "rotation-key:3"}> : () -> !ckks.rotation_key
// CHECK-NEXT: %1 = "core.resource"() <{symbol = "process-group"}> : () -> !core.handle
// CHECK-NEXT: %2 = "core.constant"() <{value = [1.000000e-01 : f64, -2.000000e+00 : f64]}> : () -> !codec.message
// CHECK-NEXT: %3 = "core.cast"(%x) : (!ckks.ciphertext) -> !rns.residues<modulus_basis = Q>
// CHECK-NEXT: func.return %x : !ckks.ciphertext
// -----
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "core.constant"() <{value = []}> : () -> !codec.message
  func.return %x : !ckks.ciphertext
}
// CHECK: ProgramError: Program.verify: operation 0 (core.constant): a constant holds 0 numbers, needed is at least one. Every operation obeys its declaration. Correct it.
// -----
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "core.constant"() <{value = [0x7FF0000000000000 : f64]}> : () -> !codec.message
  func.return %x : !ckks.ciphertext
}
// CHECK: ProgramError: Program.verify: operation 0 (core.constant): a constant holds inf, needed are finite numbers. Every operation obeys its declaration. Correct it.
// -----
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "core.constant"() <{value = [1 : i64]}> : () -> !codec.message
  func.return %x : !ckks.ciphertext
}
// CHECK: ProgramError: Program.verify: operation 0 (core.constant): a constant holds 1 : i64, needed are float64 numbers. Every operation obeys its declaration. Correct it.
// -----
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "core.resource"() <{symbol = "process-group"}> : () -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: ProgramError: Program.verify: operation 0 (core.resource): result 'result' at position 0 does not verify: !ckks.ciphertext should be of base attribute core.handle. Every operation obeys its declaration. Correct it.
// -----
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "core.material"() : () -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: ProgramError: Program.verify: operation 0 (core.material): property 'symbol' expected in operation 'core.material'. Every operation obeys its declaration. Correct it.
