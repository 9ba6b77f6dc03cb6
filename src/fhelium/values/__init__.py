"""Runtime values: tensors of residues together with the state that gives them a meaning."""

from fhelium.values.agreement import require_agreement, require_same_context
from fhelium.values.ciphertext import Ciphertext
from fhelium.values.evaluation_keys import EvaluationKeys
from fhelium.values.keys import PublicKey, key_state
from fhelium.values.plaintext import Plaintext
from fhelium.values.registry import ValueType, register_value, value_type, value_type_of
from fhelium.values.resident import TensorResident, device_of, require_same_device
from fhelium.values.secret_key import SecretKey
from fhelium.values.state import (
    CkksState,
    ModulusBasis,
    PolynomialDomain,
    ResidueRepresentation,
    half_modulus,
)
from fhelium.values.switching_keys import (
    ConjugationKey,
    RelinearizationKey,
    RotationKey,
    SwitchingKey,
    conjugation_element,
    galois_element,
    is_switching_key_layout,
    switching_key_storage,
)

__all__ = [
    "Ciphertext",
    "CkksState",
    "ConjugationKey",
    "EvaluationKeys",
    "ModulusBasis",
    "Plaintext",
    "PolynomialDomain",
    "PublicKey",
    "RelinearizationKey",
    "ResidueRepresentation",
    "RotationKey",
    "SecretKey",
    "SwitchingKey",
    "TensorResident",
    "ValueType",
    "conjugation_element",
    "device_of",
    "galois_element",
    "half_modulus",
    "is_switching_key_layout",
    "key_state",
    "register_value",
    "require_agreement",
    "require_same_context",
    "require_same_device",
    "switching_key_storage",
    "value_type",
    "value_type_of",
]
