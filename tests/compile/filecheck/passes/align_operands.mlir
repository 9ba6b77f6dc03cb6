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
// -----
// RUN: OpenStatesPass()
// RUN: AlignOperandsPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %c: i1 {core.name = "c"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {
  %0 = scf.if %c -> (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) {
    %8 = "ckks.multiply_scalar"(%x) <{value = 0.5 : f64}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1152921504606846976.0, polynomial_domain = ntt, components = 2>
    %9 = "ckks.rescale"(%8) : (!ckks.ciphertext<depth = 0, scale = 1152921504606846976.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
    %7 = "core.cast"(%9) : (!ckks.ciphertext) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
    scf.yield %7 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
  } else {
    scf.yield %x : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
  }
  func.return %0 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %c: i1 {core.name = "c"}) -> !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2> {
// CHECK-NEXT: %0 = "ckks.align"(%x) <{depth = 1 : i64}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: %1 = scf.if %c -> (!ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2>) {
// CHECK-NEXT: %2 = "ckks.multiply_scalar"(%x) <{value = 5.000000e-01 : f64}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: %3 = "ckks.rescale"(%2) : (!ckks.ciphertext<depth = 0, scale = 1.152921504606847e+18, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: scf.yield %3 : !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %0 : !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %1 : !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: }
// -----
// RUN: OpenStatesPass()
// RUN: AlignOperandsPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = scf.for %k = %0 to %n step %1 iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) {
    %9 = "ckks.align"(%x) <{depth = 1 : i64}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
    %7 = "core.cast"(%9) : (!ckks.ciphertext) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
    scf.yield %7 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
  }
  func.return %2 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2> {
// CHECK-NEXT: %0 = arith.constant 0 : index
// CHECK-NEXT: %1 = arith.constant 1 : index
// CHECK-NEXT: %2 = "ckks.align"(%x) <{depth = 1 : i64}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: %3 = scf.for %k = %0 to %n step %1 iter_args(%v = %2) -> (!ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2>) {
// CHECK-NEXT: %4 = "ckks.align"(%x) <{depth = 1 : i64}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: scf.yield %4 : !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %3 : !ckks.ciphertext<depth = 1, scale = 1073733631.0625148, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: }
// -----
// RUN: OpenStatesPass()
// RUN: AlignOperandsPass()
func.func @f(%x: !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {core.name = "x"}, %n: index {core.name = "n"}) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = scf.for %k = %0 to %n step %1 iter_args(%v = %x) -> (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) {
    %8 = "ckks.multiply_scalar"(%v) <{value = 0.5 : f64}> : (!ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>) -> !ckks.ciphertext
    %9 = "ckks.rescale"(%8) : (!ckks.ciphertext) -> !ckks.ciphertext
    %7 = "core.cast"(%9) : (!ckks.ciphertext) -> !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
    scf.yield %7 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
  }
  func.return %2 : !ckks.ciphertext<depth = 0, scale = 1073741824.0, polynomial_domain = ntt, components = 2>
}
// CHECK: StateError: operation 3 (scf.for): it carries depth 0 into a round and depth 1 out of it. A loop is linked once for all its rounds, so what it carries keeps its state. Give it a constant bound, so that UnrollControlFlowPass writes each round out, or bring the value back inside the loop.
