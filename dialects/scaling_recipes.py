"""The names of the recipes by which `fp8.update_scale` makes a scale; see `UpdateScale`."""

DELAYED_RECIPES = ("flax", "transformer_engine")
"""By the largest magnitudes of past steps: a history, which is state."""

RECIPES = (*DELAYED_RECIPES, "current")
"""`current` scales by the tensor at hand and has no state."""

ALGORITHMS = ("max", "most_recent")
"""What of a history counts."""
