# Generated from _async/__init__.py by scripts/sdk/wire.mjs; do not edit.
