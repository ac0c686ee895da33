"""The table of recipes by which `fp8.update_scale` makes a scale; see `UpdateScale`.

A recipe that differs from these in when an amax counts and when its scale is used is one more row
of `RECIPES`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class ScalingRecipe:
    """When the largest magnitude (amax) of a step counts, and which step uses the scale of it."""

    name: str
    has_history: bool = True
    """Whether past steps count, which are state; else the tensor at hand alone does."""
    counts_this_step: bool = False
    """Whether this step's amax enters the history before the scale is made of it, or after."""
    uses_new_scale: bool = True
    """Whether a step uses the scale that it makes, or that of the step before."""


RECIPES: dict[str, ScalingRecipe] = {
    row.name: row
    for row in (
        ScalingRecipe("flax"),
        ScalingRecipe("transformer_engine", counts_this_step=True, uses_new_scale=False),
        ScalingRecipe("current", has_history=False),
    )
}

DELAYED_RECIPES = tuple(name for name, recipe in RECIPES.items() if recipe.has_history)
"""What `DelayedScaling` has as its `order`."""

ALGORITHMS = ("max", "most_recent")
"""What of a history counts."""
