"""The dialects: ckks (ciphertexts), rns (residue tensors), ntt (transforms)."""
