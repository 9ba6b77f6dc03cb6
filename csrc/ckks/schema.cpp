#include "common/torch_abi.h"

FHELIUM_LIBRARY(fhelium_ckks_ops, m) {
  m.def("add_plaintext(Tensor ciphertext, Tensor plaintext, Tensor rns_params) -> Tensor");
  m.def("add_plaintext_(Tensor(a!) ciphertext, Tensor plaintext, Tensor rns_params) -> ()");
  m.def("multiply_plaintext(Tensor ciphertext, Tensor plaintext, Tensor rns_params) -> Tensor");
  m.def("multiply_plaintext_(Tensor(a!) ciphertext, Tensor plaintext, Tensor rns_params) -> ()");
  m.def(
      "multiply_plaintext_rescale(Tensor ciphertext, Tensor plaintext, Tensor inverse, "
      "Tensor ntt_tables, Tensor rns_params) -> Tensor");
  m.def(
      "sum_plaintext_products(Tensor[] ciphertexts, Tensor[] plaintexts, Tensor rns_params) -> "
      "Tensor");
  m.def(
      "coefficient_program(Tensor[] ciphertexts, Tensor[] plaintexts, int[] program, "
      "int components, Tensor rns_params) -> Tensor");
  m.def("ciphertext_product(Tensor lhs, Tensor rhs, Tensor rns_params) -> Tensor");
  m.def("ciphertext_square(Tensor input, Tensor rns_params) -> Tensor");
  m.def("key_switch_inner_product(Tensor digits, Tensor key, Tensor rns_params) -> Tensor");
  m.def(
      "key_switch_tables(Tensor digit_bounds, int specials, Tensor rns_params, "
      "ScalarType dtype=long) -> Tensor");
  m.def(
      "relinearize(Tensor input, Tensor key, Tensor switch_tables, Tensor ntt_tables, "
      "bool from_ntt, bool to_ntt) -> Tensor");
  m.def(
      "switch_galois(Tensor input, int galois_element, Tensor key, Tensor switch_tables, "
      "Tensor ntt_tables, bool from_ntt, bool to_ntt) -> Tensor");
  m.def(
      "switch_hoisted(Tensor input, int[] galois_elements, Tensor[] keys, Tensor switch_tables, "
      "Tensor ntt_tables, bool from_ntt, bool to_ntt) -> Tensor[]");
  m.def(
      "multiply_relinearize_rescale(Tensor lhs, Tensor rhs, Tensor key, Tensor switch_tables, "
      "Tensor ntt_tables) -> Tensor");
  m.def("rescale_nearest(Tensor input, Tensor inverse, Tensor rns_params) -> Tensor");
  m.def(
      "rescale_ntt(Tensor input, Tensor inverse, Tensor ntt_tables, Tensor rns_params) -> Tensor");
  m.def("rescale_truncating(Tensor input, Tensor inverse, Tensor rns_params) -> Tensor");
  m.def("automorphism_coefficient(Tensor input, int galois_element, Tensor rns_params) -> Tensor");
  m.def("automorphism_ntt(Tensor input, int galois_element) -> Tensor");
  m.def(
      "encrypt_with_public(Tensor plaintext, Tensor public_key, Tensor mask_key, "
      "Tensor error_key, Tensor switch_tables, Tensor ntt_tables, bool to_ntt) -> Tensor");
  m.def(
      "encrypt_with_secret(Tensor plaintext, Tensor secret, Tensor public_seed, Tensor error_key, "
      "int first_prime_id, Tensor ntt_tables, Tensor rns_params, bool to_ntt) -> Tensor");
  m.def(
      "decrypt_residues(Tensor ciphertext, Tensor secret, Tensor ntt_tables, Tensor rns_params, "
      "bool from_ntt) -> Tensor");
  m.def(
      "make_public_key(Tensor secret, Tensor public_seed, Tensor error_key, Tensor ntt_tables, "
      "Tensor rns_params) -> Tensor");
  m.def(
      "make_switching_key_(Tensor(a!) key, Tensor source, Tensor secret, Tensor public_seed, "
      "Tensor error_key, Tensor switch_tables, Tensor ntt_tables) -> ()");
  m.def(
      "encode_slots(Tensor slots, Tensor tables, float scale, Tensor rns_params, "
      "ScalarType dtype=long) -> Tensor");
  m.def(
      "decode_residues(Tensor residues, Tensor tables, float scale, Tensor rns_params) -> Tensor");
  m.def("embedding_tables(int degree) -> Tensor");
  m.def("slots_to_coefficients(Tensor slots, Tensor tables) -> Tensor");
  m.def("coefficients_to_slots(Tensor coefficients, Tensor tables) -> Tensor");
}
