"""Emits vector code as text: vectors of codes or f32, and elementwise expressions on them."""
