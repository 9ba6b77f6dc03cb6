// RUN: AssignCkksDepthsPass()
// RUN: EmitBackendPythonPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.negate"(%x) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  %1 = "ckks.add"(%0, %x) : (!ckks.ciphertext, !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
  func.return %1 : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {core.name = "x"}) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {
// CHECK-NEXT: %0 = "ckks.negate"(%x) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: %1 = "ckks.add"(%0, %x) : (!ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>, !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: func.return %1 : !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>
// CHECK: """The Program 'f' as calls of implementations."""
// CHECK: from fhelium.backend import OperationInvocation
// CHECK-NEXT: from fhelium.backend.rns import NativeRnsLinearImplementation
// CHECK-NEXT: from fhelium.ir.dialects.ckks import AddOp
// CHECK-NEXT: from fhelium.ir.dialects.ckks import NegateOp
// CHECK: implementation_0 = NativeRnsLinearImplementation()
// CHECK-NEXT: invocation_0 = OperationInvocation(
// CHECK-NEXT: operation_type=NegateOp,
// CHECK-NEXT: operand_count=1,
// CHECK-NEXT: result_count=1,
// CHECK-NEXT: attributes={
// CHECK-NEXT: 'ntt_backend': 'packed',
// CHECK-NEXT: 'depth': 0,
// CHECK-NEXT: 'polynomial_domain': 'ntt',
// CHECK-NEXT: },
// CHECK-NEXT: )
// CHECK-NEXT: invocation_1 = OperationInvocation(
// CHECK-NEXT: operation_type=AddOp,
// CHECK-NEXT: operand_count=2,
// CHECK-NEXT: result_count=1,
// CHECK-NEXT: attributes={
// CHECK-NEXT: 'ntt_backend': 'packed',
// CHECK-NEXT: 'depth': 0,
// CHECK-NEXT: 'polynomial_domain': 'ntt',
// CHECK-NEXT: },
// CHECK-NEXT: )
// CHECK: def generated_backend(x, *, materials, resources):
// CHECK-NEXT: rns_parameters_q_0 = materials['rns_parameters/Q/0']
// CHECK-NEXT: negate, = implementation_0.execute(invocation_0, (x, rns_parameters_q_0), (), in_place=False)
// CHECK-NEXT: add, = implementation_0.execute(
// CHECK-NEXT: invocation_1,
// CHECK-NEXT: (negate, x, rns_parameters_q_0),
// CHECK-NEXT: (),
// CHECK-NEXT: in_place=False,
// CHECK-NEXT: )
// CHECK-NEXT: return add
// -----
// RUN: EmitBackendPythonPass()
func.func @f(%x: !semantic.tensor<role = encrypted> {core.name = "x"}) -> !semantic.tensor {
  %0 = "semantic.negate"(%x) : (!semantic.tensor<role = encrypted>) -> !semantic.tensor
  func.return %0 : !semantic.tensor
}
// CHECK: PythonCodegenError: operation 0 (semantic.negate): implementations serve the dialects ckks, rns and ntt. An emitter writes what it has a call for, and nothing else. Lower it first, with LowerSemanticToLogicalPass and LowerLogicalToCkksPass.
// -----
// RUN: EmitBackendPythonPass()
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.negate"(%x) : (!ckks.ciphertext) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: PythonCodegenError: operation 0 (ckks.negate): the depth of its operand is not known. A call of an implementation has all its facts. An emitter writes what it has a call for, and nothing else. Name it in the input's spec, or run AssignCkksDepthsPass and AssignCkksScalesPass first.
// -----
// RUN: EmitBackendPythonPass()
func.func @f(%x: !ckks.ciphertext<depth = 0> {core.name = "x"}, %c: i1 {core.name = "c"}) -> !ckks.ciphertext<depth = 0> {
  %0 = scf.if %c -> (!ckks.ciphertext<depth = 0>) {
    scf.yield %x : !ckks.ciphertext<depth = 0>
  } else {
    scf.yield %x : !ckks.ciphertext<depth = 0>
  }
  func.return %0 : !ckks.ciphertext<depth = 0>
}
// CHECK: PythonCodegenError: operation 0 (scf.if): it is control flow. An emitter writes what it has a call for, and nothing else. Make its bounds and conditions constants, and run UnrollControlFlowPass first.
