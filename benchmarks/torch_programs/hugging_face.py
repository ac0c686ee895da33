"""Models of transformers from their configurations: nothing is downloaded."""

from typing import Any

import torch

LAYERS = 2


def of_config(model: str, config: str, **values: Any) -> torch.nn.Module:
    """The class `model` for the class `config` of `values`, with random weights."""
    import transformers
    from transformers.initialization import no_init_weights

    made: Any = getattr(transformers, config)(**values)
    with no_init_weights():
        found = getattr(transformers, model)(made)
    _fill(found)
    return found


@torch.no_grad()
def _fill(model: torch.nn.Module) -> None:
    """What `_init_weights` does takes minutes in all, and differs from model to model."""
    for name, parameter in model.named_parameters():
        parameter.normal_(0.0, 0.02)
        if "norm" in name.lower() or "ln_" in name:
            parameter.add_(float(name.endswith("weight")))


def tokens(rows: int, length: int, below: int) -> torch.Tensor:
    """Token numbers [rows, length]."""
    return torch.randint(0, below, (rows, length))
