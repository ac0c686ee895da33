"""Text of vector code: registers of codes or f32, and elementwise expressions on them."""
