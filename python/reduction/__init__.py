"""Cutting a module that judges differ on down to the smallest that they still differ on."""
