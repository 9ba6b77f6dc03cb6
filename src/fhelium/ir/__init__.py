"""Declarations of every operation: what it takes, what state it gives, and what it means."""
