"""The text of a cast's functions, in the dialects above LLVM's.

`fp8.cast` takes the addresses of the first source and result element, and their number.
`fp8.cast.task`, the callback of the thread pool, takes the address of these three, and a range of
elements.
"""

from mlir_fp8.base.symbols import CAST, CAST_TASK
from mlir_fp8.compiling.native.x86_block import WideBlock
from mlir_fp8.compiling.native.x86_vectors import Vectors, at_byte
from mlir_fp8.dialects.float_formats import FORMATS, OPAQUE_FLOATS, SMALL_FLOATS
from mlir_fp8.lowering.kernels.vector_code.text import KernelText

_ELEMENTS, _RANGE = "fp8_cast_elements", "fp8_cast_range"
_LINE = 64
AHEAD = 2048
"""The prefetch distance in bytes: the hardware prefetcher stops at the end of a page of 4096."""
PART = 512
"""Elements between prefetches, where there are no blocks."""
_STREAMED_BYTES = 32
"""Of a non-temporal store, where there are no blocks."""
FENCE = 'llvm.call_intrinsic "llvm.x86.sse.sfence"() : () -> ()'
"""Orders non-temporal stores before the signal that results are there."""
_LONG = 1 << 10
"""Elements from which on a range begins where registers do not cross cache lines."""
STREAMED = 1 << 25
"""Bytes of results from which on stores are non-temporal: the caches would not hold them."""


def kernel_text(source: str, target: str, block: WideBlock | None, *, streams: bool) -> str:
    """A module that casts `source` to `target`, two MLIR types, by `block` where there is one.

    With `streams`, for x86, large results take non-temporal stores, with and without `block`.
    """
    return "\n".join(
        [
            _elements(source, target),
            _in_blocks(source, target, block)
            if block
            else _in_parts(source, target, streams=streams),
            _entries(target),
        ]
    )


def steps(source: str, target: str) -> list[tuple[str, str, str]]:
    """Ops with their types; narrow floats go by way of f32, which holds each of their numbers."""
    held, given = _signless(source), _signless(target)
    if source not in FORMATS:
        op = "arith.uitofp" if source.startswith("ui") else "arith.sitofp"
        return [(op, held, given)]
    if source in SMALL_FLOATS and target == "bf16":
        return [("arith.extf", held, given)]
    found = []
    if FORMATS[source].bits < 32 and held != "f32":
        found.append(("arith.extf", held, "f32"))
        held = "f32"
    if target not in FORMATS:
        op = "arith.fptoui" if target.startswith("ui") else "arith.fptosi"
        return [*found, (op, held, given)]
    if held != given:
        wider = FORMATS[given].bits > FORMATS[held].bits
        found.append(("arith.extf" if wider else "arith.truncf", held, given))
    return found


def _elements(source: str, target: str) -> str:
    """A scalar loop, for LLVM to vectorize."""
    text = KernelText()
    with text.loop("%begin", "%end", text.index(1)) as index:
        stored = _stored(source)
        place = _place(text, "%source", index, stored)
        value = text.value(f"llvm.load {place} : !llvm.ptr -> {stored}")
        value = _retyped(text, value, stored, _signless(source))
        for op, from_, to in steps(source, target):
            value = text.value(f"{op} {value} : {from_} to {to}")
        stored = _stored(target)
        value = _retyped(text, value, _signless(target), stored)
        place = _place(text, "%target", index, stored)
        text.line(f"llvm.store {value}, {place} : {stored}, !llvm.ptr")
    arrays = [(f"%{name}", "!llvm.ptr {llvm.noalias}") for name in ("source", "target")]
    return text.function(_ELEMENTS, [*arrays, ("%begin", "index"), ("%end", "index")])


def _in_parts(source: str, target: str, *, streams: bool) -> str:
    """`_elements` with prefetches between parts."""
    text = KernelText()
    if streams:
        _stream_parts(text, source, target)
    with text.loop("%begin", "%end", text.index(PART)) as first:
        _prefetch(text, source, first, PART)
        last = text.minimum(text.add(first, PART), "%end")
        _call_elements(text, ("%source", "%target"), first, last)
    if streams:
        text.line("}")
    return _range(text)


def _stream_parts(text: KernelText, source: str, target: str) -> None:
    """The branch of non-temporal stores: each part of the results is computed in the cache, then
    streamed."""
    size = _bytes(target)
    bytes_ = text.constant(f"{PART * size} : i64")
    part = text.value(
        f"llvm.alloca {bytes_} x i8 {{alignment = {_STREAMED_BYTES}}} : (i64) -> !llvm.ptr"
    )
    text.line("scf.if %streams {")
    first, last = _whole(text, "%target", size, PART, _STREAMED_BYTES)
    _call_elements(text, ("%source", "%target"), "%begin", first)
    with text.loop(first, last, text.index(PART)) as index:
        _prefetch(text, source, index, PART)
        begin = _place(text, "%source", index, _stored(source))
        _call_elements(text, (begin, part), text.index(0), text.index(PART))
        into = _place(text, "%target", index, _stored(target))
        with text.loop(
            text.index(0), text.index(PART * size), text.index(_STREAMED_BYTES)
        ) as offset:
            given, place = (_place(text, each, offset, "i8") for each in (part, into))
            dwords = f"vector<{_STREAMED_BYTES // 4}xi32>"
            how = f"{{alignment = {_STREAMED_BYTES}}}"
            value = text.value(f"llvm.load {given} {how} : !llvm.ptr -> {dwords}")
            how = _stream(_STREAMED_BYTES)
            text.line(f"llvm.store {value}, {place} {how} : {dwords}, !llvm.ptr")
    text.line(FENCE)
    _call_elements(text, ("%source", "%target"), last, "%end")
    text.otherwise()


def _in_blocks(source: str, target: str, block: WideBlock) -> str:
    """Whole blocks, and the remainder by `_elements`."""
    text, size, count = KernelText(), _bytes(target), block.size
    registers = Vectors(text, count, has_tables=block.has_tables)
    for streams in (True, False):
        if streams:
            text.line("scf.if %streams {")
            first, last = _whole(text, "%target", size, count, count)
        else:
            wider = "%source" if _bytes(source) > size else "%target"
            first, last = _whole(text, wider, max(_bytes(source), size), count, count)
        _call_elements(text, ("%source", "%target"), "%begin", first)
        with text.loop(first, last, text.index(count)) as index:
            _prefetch(text, source, index, count)
            found = block.convert(registers, _place(text, "%source", index, _stored(source)))
            into = _place(text, "%target", index, _stored(target))
            for number, (value, type_) in enumerate(found):
                place = at_byte(text, into, count * number)
                how = _stream(count) if streams else f"{{alignment = {size}}}"
                text.line(f"llvm.store {value}, {place} {how} : {type_}, !llvm.ptr")
        if streams:
            text.line(FENCE)
        _call_elements(text, ("%source", "%target"), last, "%end")
        if streams:
            text.otherwise()
    text.line("}")
    return _range(text)


def _whole(text: KernelText, array: str, size: int, count: int, alignment: int) -> tuple[str, str]:
    """The range of whole parts of `count`, from where `array`, of elements of `size` bytes, has an
    alignment in bytes; all of a short range, whatever its alignment."""
    address = text.value(f"llvm.ptrtoint {array} : !llvm.ptr to i64")
    place = text.value(f"arith.index_cast {address} : i64 to index")
    missing = text.div(text.rem(text.sub(text.index(0), place), alignment), size)
    length = text.sub("%end", "%begin")
    is_long = text.value(f"arith.cmpi sge, {length}, {text.index(_LONG)} : index")
    skipped = text.value(f"arith.select {is_long}, {missing}, {text.index(0)} : index")
    first = text.add("%begin", skipped)
    return first, text.add(first, text.rounded_down(text.sub("%end", first), count))


def _stream(alignment: int) -> str:
    return f"{{alignment = {alignment}, nontemporal}}"


def _call_elements(text: KernelText, arrays: tuple[str, str], begin: str, end: str) -> None:
    pointers = [(array, "!llvm.ptr") for array in arrays]
    text.call(_ELEMENTS, [*pointers, (begin, "index"), (end, "index")])


def _range(text: KernelText) -> str:
    pointers = [("%source", "!llvm.ptr"), ("%target", "!llvm.ptr")]
    numbers = [("%begin", "index"), ("%end", "index"), ("%streams", "i1")]
    return text.function(_RANGE, [*pointers, *numbers])


def _prefetch(text: KernelText, source: str, index: str, count: int) -> None:
    """Prefetch the source of `count` elements, the prefetch distance after `index`."""
    place = _place(text, "%source", index, _stored(source))
    for offset in range(AHEAD, AHEAD + count * _bytes(source), _LINE):
        ahead = at_byte(text, place, offset)
        text.line(
            f'"llvm.intr.prefetch"({ahead}) <{{rw = 0 : i32, hint = 3 : i32, cache = 1 : i32}}>'
            " : (!llvm.ptr) -> ()"
        )


def _place(text: KernelText, pointer: str, index: str, type_: str) -> str:
    number = text.value(f"arith.index_cast {index} : index to i64")
    return text.value(
        f"llvm.getelementptr {pointer}[{number}] : (!llvm.ptr, i64) -> !llvm.ptr, {type_}"
    )


def _entries(target: str) -> str:
    """The external functions: the cast of an array, and the pool's callback on a range."""
    streamed = STREAMED // _bytes(target)
    return f"""
func.func @{CAST}(%source: !llvm.ptr, %target: !llvm.ptr, %count: i64) {{
  %zero = arith.constant 0 : index
  %many = arith.constant {streamed} : i64
  %streams = arith.cmpi sge, %count, %many : i64
  %end = arith.index_cast %count : i64 to index
  func.call @{_RANGE}(%source, %target, %zero, %end, %streams)
    : (!llvm.ptr, !llvm.ptr, index, index, i1) -> ()
  return
}}
func.func @{CAST_TASK}(%arguments: !llvm.ptr, %first: i64, %last: i64) {{
  %target_at = llvm.getelementptr %arguments[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %count_at = llvm.getelementptr %arguments[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %source = llvm.load %arguments : !llvm.ptr -> !llvm.ptr
  %target = llvm.load %target_at : !llvm.ptr -> !llvm.ptr
  %count = llvm.load %count_at : !llvm.ptr -> i64
  %many = arith.constant {streamed} : i64
  %streams = arith.cmpi sge, %count, %many : i64
  %begin = arith.index_cast %first : i64 to index
  %end = arith.index_cast %last : i64 to index
  func.call @{_RANGE}(%source, %target, %begin, %end, %streams)
    : (!llvm.ptr, !llvm.ptr, index, index, i1) -> ()
  return
}}"""


def _retyped(text: KernelText, value: str, from_: str, to: str) -> str:
    if from_ == to:
        return value
    return text.value(f"builtin.unrealized_conversion_cast {value} : {from_} to {to}")


def _stored(element: str) -> str:
    """What memory holds: integers for what is opaque to LLVM."""
    if element in OPAQUE_FLOATS:
        return f"i{OPAQUE_FLOATS[element].storage_bits}"
    return _signless(element)


def _bytes(element: str) -> int:
    return int(_stored(element)[1:]) // 8


def _signless(element: str) -> str:
    return element.removeprefix("u")
