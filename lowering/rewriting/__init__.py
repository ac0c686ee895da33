"""Walking, building and retyping ops: what passes of several stages rewrite with."""
