"""Typed functions over the native operators, generated from their schemas."""
