// RUN: AssignCkksDepthsPass()
// RUN: PrepareOperationOperandsPass(registry)
func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2> {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.add"(%x, %x) : (!ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2>, !ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2>) -> !ckks.ciphertext
  %1 = "ckks.coefficient_to_ntt"(%0) : (!ckks.ciphertext) -> !ckks.ciphertext
  func.return %1 : !ckks.ciphertext
}
// CHECK: func.func @f(%x: !ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2> {core.name = "x"}) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2> {
// CHECK-NEXT: %0 = "core.material"() <{symbol = "rns_parameters/Q/0"}> : () -> !rns.table
// CHECK-NEXT: %1 = "core.material"() <{symbol = "ntt_tables/packed/Q/0"}> : () -> !rns.table
// CHECK-NEXT: %2 = "ckks.add"(%x, %x, %0) : (!ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2>, !ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2>, !rns.table) -> !ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2>
// CHECK-NEXT: %3 = "ckks.coefficient_to_ntt"(%2, %1, %0) : (!ckks.ciphertext<depth = 0, polynomial_domain = coefficient, components = 2>, !rns.table, !rns.table) -> !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>
// CHECK-NEXT: func.return %3 : !ckks.ciphertext<depth = 0, polynomial_domain = ntt, components = 2>
// -----
// RUN: PrepareOperationOperandsPass(registry)
func.func @f(%x: !ckks.ciphertext {core.name = "x"}) -> !ckks.ciphertext {
  %0 = "ckks.add"(%x, %x) : (!ckks.ciphertext, !ckks.ciphertext) -> !ckks.ciphertext
  func.return %0 : !ckks.ciphertext
}
// CHECK: PassError: ckks.add: the depth of its operand is not known. A call of an implementation has all its facts. Name it in the input's spec, or run AssignCkksDepthsPass and AssignCkksScalesPass first.
