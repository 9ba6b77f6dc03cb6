"""The version of the package: the build, the manifest of the binary and users read it here."""

__version__ = "0.1.0"
