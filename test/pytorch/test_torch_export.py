"""`mlir_fp8.torch.export`: state, pytrees, writes in place, sizes, locations and artifacts."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch.nn")

import torch
from torch_programs import Of, agree

import mlir_fp8
import mlir_fp8.torch


class Counter(torch.nn.Module):
    """A layer, a counter that is written in place, and a buffer that is not saved."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 3)
        self.register_buffer("count", torch.zeros(1))
        self.register_buffer("mask", torch.tensor([1.0, 0.0, 1.0]), persistent=False)

    def forward(self, x: Any, *, flag: bool = True) -> Any:
        self.count.add_(1)
        y = self.layer(x["a"]) * self.mask
        return {"y": y if flag else -y, "rest": (self.count * 2, None, 3, [x["b"]])}


def _given() -> dict[str, Any]:
    return {"a": torch.randn(2, 4), "b": torch.arange(3)}


def test_importing_does_not_import_pytorch() -> None:
    code = "import sys, mlir_fp8, mlir_fp8.torch; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pytrees_state_and_writes_are_eagers() -> None:
    model, given = Counter(), _given()
    module = mlir_fp8.torch.export(model, (given,), {"flag": False})
    assert model.count.item() == 0
    for calls in (1, 2):
        got = module(given, flag=False)
        assert model.count.item() == calls
        expected = -(given["a"] @ model.layer.weight.T + model.layer.bias) * model.mask
        torch.testing.assert_close(got["y"], expected.detach())
        doubled, none, three, (b,) = got["rest"]
        assert (doubled.item(), none, three) == (2 * calls, None, 3)
        assert torch.equal(b, given["b"])
    assert set(module.state) == {"layer.weight", "layer.bias", "count", "mask"}
    assert module.state["layer.weight"].data_ptr() == model.layer.weight.data_ptr()


def test_state_that_changes_in_place_is_seen() -> None:
    model = torch.nn.Linear(4, 2)
    module = mlir_fp8.torch.export(model, (torch.ones(1, 4),))
    with torch.no_grad():
        model.weight.fill_(2.0)
        model.bias.fill_(1.0)
    assert module(torch.ones(1, 4)).tolist() == [[9.0, 9.0]]


def test_an_argument_written_in_place_is_written() -> None:
    def double(x: Any) -> Any:
        x.mul_(2)
        return x + 1

    x = torch.tensor([1.0, 2.0])
    module = mlir_fp8.torch.export(Of(double), (x.clone(),))
    assert module(x).tolist() == [3.0, 5.0]
    assert x.tolist() == [2.0, 4.0]


def test_a_result_may_be_an_argument_and_come_twice() -> None:
    x = torch.tensor([1.0])
    module = mlir_fp8.torch.export(Of(lambda x: (x, x + 1, x)), (x,))
    first, second, third = module(x)
    assert (first.item(), second.item(), third.item()) == (1.0, 2.0, 1.0)


def test_arguments_that_do_not_fit_are_refused_by_name() -> None:
    module = mlir_fp8.torch.export(Of(lambda x, n: x * n), (torch.ones(2), 3))
    x = torch.ones(2)
    for args, reason in (
        ((x, 4), "'a_1' is 4, exported for 3"),
        ((x.double(), 3), "'a_0' is torch.float64, exported for torch.float32"),
        ((torch.ones(3), 3), r"'a_0' is of shape \[3\], exported for \[2\]"),
        ((x.numpy(), 3), "'a_0' is a ndarray, not a torch.Tensor"),
        ((x.to("meta"), 3), "'a_0' is on the meta device, without values"),
        ((x,), "the arguments"),
    ):
        with pytest.raises(mlir_fp8.Fp8Error, match=reason):
            module(*args)


def test_open_sizes_are_compiled_once_for_each_shape() -> None:
    model = torch.nn.Linear(4, 2)
    dims = ({0: torch.export.Dim("rows", min=2, max=8)},)
    module = mlir_fp8.torch.export(model, (torch.ones(3, 4),), dynamic_shapes=dims)
    for rows in (3, 7, 2):
        x = torch.randn(rows, 4)
        torch.testing.assert_close(module(x), model(x).detach())
    assert "tensor<7x4xf32>" in str(module.mlir_for(torch.ones(7, 4)))
    with pytest.raises(mlir_fp8.Fp8Error, match=r"'input': .* is 9, exported for 2 to 8"):
        module(torch.ones(9, 4))
    with pytest.raises(mlir_fp8.Fp8Error, match=r"\[3, 5\]"):
        module(torch.ones(3, 5))


def test_sizes_that_are_one_must_be_one() -> None:
    n = torch.export.Dim("n", min=2, max=8)
    args = torch.ones(3), torch.ones(3)
    module = mlir_fp8.torch.export(
        Of(lambda x, y: x + y), args, dynamic_shapes={"a": ({0: n}, {0: n})}
    )
    assert module(torch.ones(4), torch.ones(4)).tolist() == [2.0] * 4
    with pytest.raises(mlir_fp8.Fp8Error, match="they are one"):
        module(torch.ones(4), torch.ones(5))


def test_a_program_and_its_file_are_taken(tmp_path: Path) -> None:
    model, x = torch.nn.Linear(4, 2), torch.randn(3, 4)
    exported = torch.export.export(model, (x,))
    torch.export.save(exported, tmp_path / "model.pt2")
    for source in (exported, tmp_path / "model.pt2", str(tmp_path / "model.pt2")):
        torch.testing.assert_close(mlir_fp8.torch.export(source)(x), model(x).detach())
    (tmp_path / "no.pt2").write_bytes(b"no")
    with pytest.raises(mlir_fp8.Fp8Error, match=r"no\.pt2: no ExportedProgram"):
        mlir_fp8.torch.export(tmp_path / "no.pt2")
    with pytest.raises(mlir_fp8.Fp8Error, match=r"cannot read .*No such file"):
        mlir_fp8.torch.export(tmp_path / "none.pt2")


def test_locations_hold_the_line_and_the_path() -> None:
    module = mlir_fp8.torch.export(Counter(), (_given(),))
    text = str(module.mlir.operation.get_asm(enable_debug_info=True))
    assert 'loc("layer"(' in text
    assert f'"{__file__}":' in text


def test_artifacts_hold_no_weights() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.GELU())
    x = torch.randn(2, 512)
    artifact = mlir_fp8.torch.export(model, (x,)).serialize("1.0.0")
    assert len(artifact) < 2000
    arrays = [each.detach().numpy() for each in (model[0].weight, model[0].bias, x)]
    (got,) = mlir_fp8.compile(artifact)(*arrays)
    torch.testing.assert_close(torch.from_numpy(got), model(x).detach())


def test_gradients_of_a_joint_program_are_added() -> None:
    experimental = pytest.importorskip("torch.export.experimental")
    model, x = torch.nn.Linear(4, 1), torch.randn(3, 4)
    model.forward = lambda x: torch.nn.Linear.forward(model, x).square().mean()
    joint = experimental._export_forward_backward(torch.export.export(model, (x,)))
    module = mlir_fp8.torch.export(joint)
    loss = module(x)
    module(x)
    got = [each.grad.clone() for each in model.parameters()]
    model.zero_grad()
    expected = model(x)
    expected.backward()
    torch.testing.assert_close(loss, expected.detach())
    for gradient, parameter in zip(got, model.parameters(), strict=True):
        torch.testing.assert_close(gradient, 2 * parameter.grad)


@pytest.mark.parametrize(
    ("function", "args", "name"),
    [
        (torch.linalg.eigvals, (torch.ones(2, 2),), r"aten\.linalg_eig"),
        (lambda x: x[x > 0], (torch.ones(3),), r"aten\.index\.Tensor' gives a tensor whose size"),
        (lambda x: x.nonzero(), (torch.ones(3),), r"aten\.nonzero' gives a tensor whose size"),
        (torch.linalg.matrix_exp, (torch.ones(2, 2),), r"aten\.linalg_matrix_exp"),
    ],
)
def test_refusals_name_the_op_and_the_line(
    function: Any, args: Any, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=rf"programs\.py:\d+:0: '{name}") as raised:
        mlir_fp8.torch.export(Of(function), args)
    assert "\n" not in str(raised.value)
    assert not isinstance(raised.value, mlir_fp8.InternalError)
    assert capfd.readouterr().err == ""


def test_seeded_random_ops_are_ours() -> None:
    """They have the distribution, not the stream, of PyTorch's."""
    module = mlir_fp8.torch.export(Of(lambda x: torch.rand_like(x)), (torch.zeros(4000),))
    got = module(torch.zeros(4000))
    assert got.min() >= 0
    assert got.max() < 1
    assert abs(got.mean().item() - 0.5) < 0.03
    assert torch.equal(got, module(torch.zeros(4000)))


def test_results_without_gradients_are_warned_of() -> None:
    module = mlir_fp8.torch.export(Of(lambda x: x * 2), (torch.ones(1),))
    with pytest.warns(UserWarning, match="requires gradients"):
        module(torch.ones(1, requires_grad=True))


def test_agree_sees_a_difference() -> None:
    with pytest.raises(AssertionError):
        agree(torch.ones(1), torch.ones(1) * 1.1)


def test_results_are_named_as_the_model_names_them() -> None:
    class Results(torch.nn.Module):
        def __init__(self, form: str) -> None:
            super().__init__()
            self.form = form
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x: Any) -> Any:
            if self.form == "dict":
                return {"logits": x + 1, "hidden": [x * 2, None, x * 3]}
            if self.form == "dataclass":
                return Fields(x + 1, (x, x * 2))
            if self.form == "alike":
                return {1: x + 1, "1": x + 2}
            self.count.add_(1)
            return x + 1 if self.form == "one" else (x + 1, {"y": x * 2}, x)

    names = {
        "dict": ("logits", "hidden.0", "hidden.2"),
        "dataclass": ("first", "rest.0", "rest.1"),
        "alike": ("output_0", "output_1"),
        "one": ("count (written)", "output_0"),
        "tuple": ("count (written)", "output_0", "output_1.y", "output_2"),
    }
    for form, expected in names.items():
        got = mlir_fp8.torch.export(Results(form), (torch.ones(2),)).results
        assert got == expected


@dataclass
class Fields:
    """Results by the names of fields."""

    first: Any
    rest: Any


torch.export.register_dataclass(Fields)
