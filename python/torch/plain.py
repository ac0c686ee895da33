"""Tensors whose values are in this process's memory; every other one is named."""

from typing import TYPE_CHECKING, Any

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tensors.detached import warn_detached

if TYPE_CHECKING:
    import torch  # pyright: ignore[reportMissingImports]


def plain(what: str, tensor: "torch.Tensor") -> "torch.Tensor":
    """A detached, dense CPU tensor of torch's own class."""
    import torch  # pyright: ignore[reportMissingImports]

    kind: Any = type(tensor)
    tensor_class: Any = torch.Tensor
    if kind.__torch_dispatch__ is not tensor_class.__torch_dispatch__:
        raise Fp8Error(
            f"{what} is a {kind.__name__}, which wraps others: give a plain torch.Tensor"
        )
    if kind is not torch.Tensor:
        with torch._C.DisableTorchFunctionSubclass():
            tensor = tensor.as_subclass(torch.Tensor)
    functorch: Any = vars(torch._C)["_functorch"]
    if functorch.is_functorch_wrapped_tensor(tensor):
        way_out = "call it outside of vmap and grad"
        raise Fp8Error(f"{what} is traced by torch.func: {way_out}")
    if tensor.device.type == "meta":
        raise Fp8Error(f"{what} is on the meta device, without values: give one with memory")
    if tensor.device.type != "cpu":
        raise Fp8Error(f"{what} is on {tensor.device}, this runs on the CPU: give tensor.cpu()")
    if tensor.is_nested:
        raise Fp8Error(f"{what} is nested: give tensor.to_padded_tensor(0.0), or one by one")
    if tensor.is_quantized:
        way_out = "give tensor.dequantize() or tensor.int_repr()"
        raise Fp8Error(f"{what} is quantized ({tensor.dtype}): {way_out}")
    if tensor.layout != torch.strided:
        raise Fp8Error(f"{what} is of layout {tensor.layout}: give tensor.to_dense()")
    if tensor._is_zerotensor():
        tensor = tensor.clone()
    _check_memory(what, tensor)
    return _detached(what, tensor)


def _check_memory(what: str, tensor: "torch.Tensor") -> None:
    """Storages can be resized below tensors on them, as sharded training does; numpy reads on."""
    if not tensor.numel():
        return
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    end = tensor.storage_offset() + 1 + sum((size - 1) * stride for size, stride in steps)
    if end * tensor.itemsize > tensor.untyped_storage().nbytes():
        raise Fp8Error(f"{what} has no memory (its storage was resized): give one with values")


def _detached(what: str, tensor: "torch.Tensor") -> "torch.Tensor":
    import torch  # pyright: ignore[reportMissingImports]
    from torch.autograd import forward_ad  # pyright: ignore[reportMissingImports]

    if forward_ad._current_level >= 0 and forward_ad.unpack_dual(tensor).tangent is not None:
        warn_detached(f"{what} has a tangent: results have none")
        return forward_ad.unpack_dual(tensor).primal.detach()
    if not tensor.requires_grad:
        return tensor
    if torch.is_grad_enabled():
        warn_detached(f"{what} requires gradients: it is detached, and no result has any")
    return tensor.detach()
