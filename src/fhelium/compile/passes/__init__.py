"""Passes: one a file, each a frozen dataclass whose fields are its options."""
