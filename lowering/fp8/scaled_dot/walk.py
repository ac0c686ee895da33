"""The walk from a dot's result through the epilogue that one fused op can do."""

from dataclasses import replace

from torch_mlir import ir

from mlir_fp8.lowering.fp8.scaled_dot.activation import almost_relu, is_relu, match_gelu
from mlir_fp8.lowering.fp8.scaled_dot.addend import Bias, Matrix, match_addend
from mlir_fp8.lowering.fp8.scaled_dot.amax import Amax, match_amax
from mlir_fp8.lowering.fp8.scaled_dot.dependence import dependents, may_move
from mlir_fp8.lowering.fp8.scaled_dot.epilogue import Epilogue, Step, alpha_of, converted_types
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.outside import left_outside
from mlir_fp8.lowering.fp8.scaled_dot.product import Product
from mlir_fp8.lowering.fp8.scaled_dot.quantization import Quantization, match_quantization
from mlir_fp8.lowering.fp8.scaled_dot.reasons import (
    kept_in_place,
    other_type,
    other_users,
    scale_from_amax,
    scaled_by_product,
    unplaced_scale,
)
from mlir_fp8.lowering.fp8.scaled_dot.scale import read_scale
from mlir_fp8.lowering.fp8.scaled_dot.sum_scale import sum_scale
from mlir_fp8.lowering.fp8.scaled_dot.uses import other_operand, users
from mlir_fp8.lowering.fp8.scaled_dot.values import format_of, holds


def match_epilogue(product: Product) -> tuple[Epilogue, list[Obstacle]]:
    """The longest epilogue after `product`, and what kept it from being longer."""
    walk = _Walk(product)
    walk.run()
    return walk.done, walk.obstacles


_STEP_TYPES = ("f32", "bf16", "f16")
_SCALINGS = ("stablehlo.multiply", "stablehlo.divide")


class _Walk:
    """`state` is what has been read up to `value`; `done` is the last of them worth fusing."""

    def __init__(self, product: Product) -> None:
        self.value = product.op.results[0]
        fmt = format_of(self._element)
        # An f8 result is the f32 sum, rounded once.
        self._is_over = fmt is not None and fmt.is_small
        step_type = ir.F32Type.get(product.op.context) if self._is_over else self._element
        self.state = self.done = Epilogue(self.value, step_type, step_type)
        self.obstacles: list[Obstacle] = []
        self._output_refusal: Obstacle | None = None
        self._product = product
        self._is_sum = isinstance(self._element, ir.F32Type) and product.operand_type is None

    def run(self) -> None:
        while not self._is_over and self._advance():
            pass
        if not self.obstacles and self.done.quantization is None:
            found = left_outside(self.done.end)
            self.obstacles += [found] if found else []

    @property
    def _element(self) -> ir.Type:
        return ir.RankedTensorType(self.value.type).element_type

    @property
    def _is_in_step_type(self) -> bool:
        return self._element == self.state.epilogue_type

    def _commit(self, end: ir.Value, state: Epilogue) -> bool:
        self.state = self.done = replace(state, end=end)
        self.value = end
        return True

    def _refuse(self, obstacle: Obstacle | None) -> bool:
        known = {(each.kind, str(each.location)) for each in self.obstacles}
        if obstacle is not None and (obstacle.kind, str(obstacle.location)) not in known:
            self.obstacles.append(obstacle)
        return False

    def _advance(self) -> bool:
        """Take the next step; false where there is none."""
        if self.state.step < Step.ACTIVATION and self._is_in_step_type:
            gelu = match_gelu(self.value)
            if gelu is not None:
                name, end = gelu
                return self._commit(end, replace(self.state, activation=name, step=Step.ACTIVATION))
        amax, rest = self._split_users()
        if amax is not None:
            return self._end_with_amax(amax, rest)
        if len(rest) > 1:
            return self._refuse(self._shared(rest))
        if not rest or rest[0].block != self._product.op.block:
            return False
        if self._quantize(rest[0]) or self._step(rest[0]):
            return True
        return self._refuse(self._output_refusal)

    def _split_users(self) -> tuple[Amax | None, list[ir.Operation]]:
        amax, rest = None, []
        is_positive = self.state.activation == "relu"
        for op in users(self.value):
            found = match_amax(op, self.value, is_positive=is_positive)
            if isinstance(found, Amax) and amax is None and op.block == self._product.op.block:
                amax = found
                continue
            if isinstance(found, Obstacle):
                self._refuse(found)
            rest.append(op)
        return amax, rest

    def _end_with_amax(self, amax: Amax, rest: list[ir.Operation]) -> bool:
        """Nothing but a quantization comes after amax."""
        last = ir.OpResult(self.value).owner.operation
        if not may_move(dependents(amax.reduce.results[0], last)):
            return self._refuse(kept_in_place(amax.reduce))
        self._commit(self.value, replace(self.state, amax=amax))
        if len(rest) != 1:
            return self._refuse(self._shared(rest))
        if rest[0].block == self._product.op.block and self._quantize(rest[0]):
            return False
        return self._refuse(self._output_refusal or self._shared([*rest, amax.first]))

    def _quantize(self, op: ir.Operation) -> bool:
        """Whether `op` begins a quantization; what is wrong with it is the `_output_refusal`."""
        is_positive = self.state.activation == "relu"
        found = match_quantization(self.value, op, is_positive=is_positive)
        self._output_refusal = found if isinstance(found, Obstacle) else None
        if not isinstance(found, Quantization):
            return False
        self._output_refusal = self._unquantizable(op, found)
        if self._output_refusal is None:
            self._is_over = self._commit(found.end, replace(self.state, quantization=found))
        return self._output_refusal is None

    def _unquantizable(self, op: ir.Operation, found: Quantization) -> Obstacle | None:
        if found.scale is not None and not self._is_in_step_type:
            return other_type(op, self._element, self.state.epilogue_type)
        if self.state.amax is None:
            return None
        last = ir.OpResult(found.end).owner.operation
        needing = dependents(self.state.amax.reduce.results[0], last)
        if op in needing or last in needing:
            return scale_from_amax(op)
        return None if may_move(needing) else kept_in_place(self.state.amax.reduce)

    def _step(self, op: ir.Operation) -> bool:
        match op.name:
            case "stablehlo.convert":
                return self._convert(op)
            case "stablehlo.multiply" | "stablehlo.divide":
                return self._scale(op)
            case "stablehlo.add":
                return self._add(op)
            case "stablehlo.maximum":
                return self._relu(op)
        return False

    def _shared(self, found: list[ir.Operation]) -> Obstacle | None:
        """What to say where several ops use the value: nothing if none of them could be a step."""
        return other_users(self.value, found, next(filter(self._is_step, found), None))

    def _is_step(self, op: ir.Operation) -> bool:
        """Whether `op` would be the next step, were it the only one to use the value."""
        step = self.state.step
        if isinstance(match_quantization(self.value, op, is_positive=False), Quantization):
            return True
        match op.name:
            case "stablehlo.add":
                found = match_addend(op, self.value, self._product.bias_dimension)
                last = Step.MATRIX if isinstance(found, Matrix) else Step.BIAS
                return not isinstance(found, Obstacle) and step < last
            case "stablehlo.maximum":
                return is_relu(op, self.value) and step < Step.ACTIVATION
            case "stablehlo.multiply" | "stablehlo.divide":
                scale = read_scale(other_operand(op, self.value))
                return scale is not None and scale.number is not None and step < Step.ALPHA
        return False

    def _convert(self, op: ir.Operation) -> bool:
        end, state = op.results[0], self.state
        target = ir.RankedTensorType(end.type).element_type
        if str(target) not in _STEP_TYPES or (state.step > Step.SUM and not self._is_in_step_type):
            return False
        narrows = not holds(target, self._element)
        if state.step == Step.SUM:
            types = converted_types(state, target)
            if types is None:
                message = f"{op.name} to {target} rounds once more than a fused op does"
                edit = "convert the dot's result at once"
                return self._refuse(Obstacle("rounds-twice", "output", message, op.location, edit))
            self._is_sum = False
            state = replace(state, dot_type=types[0], epilogue_type=types[1])
        elif narrows:
            # Rounded, it is what the fused op gives; what comes after would round again.
            self._is_over = True
        if narrows:
            return self._commit(end, state)
        self.state, self.value = state, end
        return True

    def _scale(self, op: ir.Operation) -> bool:
        state, divides = self.state, op.name == "stablehlo.divide"
        if op.operands[0] == op.operands[1] or (divides and op.operands[0] != self.value):
            return False
        scale = read_scale(other_operand(op, self.value))
        if scale is None or not (scale.is_single or scale.broadcasts):
            return self._refuse(scaled_by_product(op, other_operand(op, self.value)))
        is_sum = self._is_sum and state.step == Step.SUM and state.b_scale is None
        if is_sum and (scale.number is None or _is_scaled(op.results[0])):
            found = sum_scale(self._product, replace(scale, inverse=divides), state.a_scale)
            if found is not None:
                name, spread = found
                return self._commit(op.results[0], replace(state, **{f"{name}_scale": spread}))
        alpha = None if scale.number is None else alpha_of(scale.number, self._element, divides)
        if alpha is not None and state.step < Step.ALPHA and self._is_in_step_type:
            return self._commit(op.results[0], replace(state, alpha=alpha, step=Step.ALPHA))
        # Where it is the scale of a quantization, that was refused for a reason of its own.
        return self._refuse(None if self._output_refusal else unplaced_scale(op, scale, divides))

    def _add(self, op: ir.Operation) -> bool:
        state = self.state
        if op.operands[0] == op.operands[1]:
            return False
        if not self._is_in_step_type:
            return self._refuse(other_type(op, self._element, self.state.epilogue_type))
        found = match_addend(op, self.value, self._product.bias_dimension)
        if isinstance(found, Obstacle):
            return self._refuse(found)
        if isinstance(found, Matrix) and state.step < Step.MATRIX:
            return self._commit(op.results[0], replace(state, matrix=found, step=Step.MATRIX))
        if isinstance(found, Bias) and state.step < Step.BIAS:
            return self._commit(op.results[0], replace(state, bias=found, step=Step.BIAS))
        what = "a matrix" if isinstance(found, Matrix) else "a bias"
        message = f"{op.name} adds {what} after the {state.step.name.lower()} step"
        edit = "add the matrix first, then the bias, then apply the activation"
        return self._refuse(Obstacle("step-order", "bias", message, op.location, edit))

    def _relu(self, op: ir.Operation) -> bool:
        if not is_relu(op, self.value):
            return self._refuse(self._output_refusal or almost_relu(self.value))
        if not self._is_in_step_type:
            return self._refuse(other_type(op, self._element, self.state.epilogue_type))
        if self.state.step == Step.ACTIVATION:
            return False
        state = replace(self.state, activation="relu", step=Step.ACTIVATION)
        return self._commit(op.results[0], state)


def _is_scaled(value: ir.Value) -> bool:
    found = users(value)
    return len(found) == 1 and found[0].name in _SCALINGS
