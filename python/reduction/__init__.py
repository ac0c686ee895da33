"""Test-case reduction: the smallest module on which the judges still differ."""
