// RUN: EmitEagerPythonPass()
func.func @f(%x: !ckks.ciphertext {core.name = "x"}, %m: !codec.message {core.name = "m"}) -> (!ckks.ciphertext, !ckks.ciphertext) {
  %k = "core.material"() <{symbol = "rotation-key:3"}> : () -> !ckks.rotation_key
  %0 = "core.constant"() <{value = [0.1 : f64, 2.0 : f64]}> : () -> !codec.message
  %1 = "ckks.rotate"(%x, %k) <{step = 3 : i64, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ckks.ciphertext, !ckks.rotation_key) -> !ckks.ciphertext
  %2 = "codec.prepare_plaintext"(%0, %1) <{for_ = "add"}> : (!codec.message, !ckks.ciphertext) -> !ckks.plaintext
  %3 = "ckks.add_plaintext"(%1, %2) : (!ckks.ciphertext, !ckks.plaintext) -> !ckks.ciphertext
  %4 = "ckks.multiply_scalar"(%3) <{value = 0.5 : f64}> : (!ckks.ciphertext) -> !ckks.ciphertext
  func.return %4, %x : !ckks.ciphertext, !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext {core.name = "x"}, %m: !codec.message {core.name = "m"}) -> (!ckks.ciphertext<components = 2>, !ckks.ciphertext) {
// CHECK-NEXT: %k = "core.material"() <{symbol = "rotation-key:3"}> : () -> !ckks.rotation_key
// CHECK-NEXT: %0 = "core.constant"() <{value = [1.000000e-01 : f64, 2.000000e+00 : f64]}> : () -> !codec.message
// CHECK-NEXT: %1 = "ckks.rotate"(%x, %k) <{step = 3 : i64, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ckks.ciphertext, !ckks.rotation_key) -> !ckks.ciphertext<components = 2>
// CHECK-NEXT: %2 = "codec.prepare_plaintext"(%0, %1) <{for_ = "add"}> : (!codec.message, !ckks.ciphertext<components = 2>) -> !ckks.plaintext<modulus_basis = Q, residue_representation = standard>
// CHECK-NEXT: %3 = "ckks.add_plaintext"(%1, %2) : (!ckks.ciphertext<components = 2>, !ckks.plaintext<modulus_basis = Q, residue_representation = standard>) -> !ckks.ciphertext<components = 2>
// CHECK-NEXT: %4 = "ckks.multiply_scalar"(%3) <{value = 5.000000e-01 : f64}> : (!ckks.ciphertext<components = 2>) -> !ckks.ciphertext<components = 2>
// CHECK-NEXT: func.return %4, %x : !ckks.ciphertext<components = 2>, !ckks.ciphertext
// CHECK: """The Program 'f' as calls of an Engine."""
// CHECK: import torch
// CHECK: constant = torch.tensor([0.1, 2.0], dtype=torch.float64)
// CHECK: def generated_eager(engine, x, m, *, materials, resources):
// CHECK-NEXT: rotation_key_3 = materials['rotation-key:3']
// CHECK-NEXT: rotate = engine.rotate_with_key(x, rotation_key_3)
// CHECK-NEXT: prepare_plaintext = engine.prepare_plaintext(constant.repeat(engine.config.num_slots // constant.numel()), rotate, for_='add')
// CHECK-NEXT: add_plaintext = engine.add_plaintext(rotate, prepare_plaintext)
// CHECK-NEXT: multiply_scalar = engine.multiply_scalar(add_plaintext, value=0.5)
// CHECK-NEXT: return multiply_scalar, x
// -----
// RUN: EmitEagerPythonPass()
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.rotate"(%x) <{step = 3 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ckks.ciphertext) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: PythonCodegenError: operation 0 (ckks.rotate): its key operand is open. An emitter writes what it has a call for, and nothing else. Run ResolveRotationKeyOperandsPass first.
// -----
// RUN: EmitEagerPythonPass()
func.func @f(%x: !semantic.tensor<role = encrypted> {core.name = "x"}) -> !semantic.tensor {
  %0 = "semantic.negate"(%x) : (!semantic.tensor<role = encrypted>) -> !semantic.tensor
  func.return %0 : !semantic.tensor
}
// CHECK: PythonCodegenError: operation 0 (semantic.negate): the Engine has no such operation. An emitter writes what it has a call for, and nothing else. Emit where all operations are those of the ckks dialect.
// -----
// RUN: PrepareOperationOperandsPass(registry)
// RUN: EmitEagerPythonPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.negate"(%x) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: PythonCodegenError: operation 1 (ckks.negate): it carries 1 numerical tables, which the Engine chooses itself. An emitter writes what it has a call for, and nothing else. Use EmitBackendPythonPass, which keeps them.
// -----
// RUN: EmitEagerPythonPass()
func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext<depth = 0> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = scf.for %k = %0 to %n step %1 iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0>) {
    %9 = "ckks.negate"(%v) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
    scf.yield %9 : !ckks.ciphertext<depth = 0>
  }
  func.return %2 : !ckks.ciphertext<depth = 0>
}
// CHECK: PythonCodegenError: operation 2 (scf.for): it is control flow. An emitter writes what it has a call for, and nothing else. Make its bounds and conditions constants, and run UnrollControlFlowPass first.
