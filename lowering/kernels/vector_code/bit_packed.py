"""Codes of f6 and f4 out of bytes in which they lie without gaps: two of each, or four of three.

Code i has the bits from i * bits on, counted from the lowest one of the first byte.
"""

from mlir_fp8.lowering.kernels.vector_code.text import KernelText

CODES_OF_BYTES = {4: 2, 6: 4}
"""How many codes are whole bytes, by their bits."""
SHIFT = "llvm.x86.avx512.pmultishift.qb.512"
SHIFT_TYPE = "(vector<64xi8>, vector<64xi8>) -> vector<64xi8>"
"""VBMI's vpmultishiftqb: of each eight bytes, eight bits from any place on for each byte."""
PERMUTE = "llvm.x86.avx512.permvar.qi.512"
REGISTER = 64
"""Codes of a register."""
_BYTES = f"vector<{REGISTER}xi8>"
_OF_SHIFT = 8
"""Bytes of which, and codes that, `SHIFT` makes of them."""


def byte_of(text: KernelText, bits: int, code: str) -> str:
    """The index of the byte in which a code begins."""
    return text.div(text.mul(code, bits), 8)


def unpacked(text: KernelText, bits: int, buffer: str, code: str, lanes: int) -> str:
    """A vector of `lanes` codes of i8 from the code on, which begins a byte."""
    size = lanes * bits // 8
    part = f"vector<{size}xi8>"
    place = byte_of(text, bits, code)
    held = text.value(f"vector.load {buffer}[{place}] : memref<?xi8>, {part}")
    firsts = [i * bits // 8 for i in range(lanes)]
    lasts = [(i * bits + bits - 1) // 8 for i in range(lanes)]
    # The zeros after the bytes stand for the upper one where a code lies in one.
    order = [
        each
        for low, high in zip(firsts, lasts, strict=True)
        for each in (low, high if high > low else size)
    ]
    zeros = text.zeros(size, "i8")
    bytes_ = text.value(f"vector.shuffle {held}, {zeros} {order} : {part}, {part}")
    words = f"vector<{lanes}xi16>"
    pairs = text.value(f"vector.bitcast {bytes_} : vector<{2 * lanes}xi8> to {words}")
    places = [i * bits % 8 for i in range(lanes)]
    by = text.constant(f"dense<{places}> : {words}")
    mask = text.constant(f"dense<{(1 << bits) - 1}> : {words}")
    moved = text.value(f"arith.shrui {pairs}, {by} : {words}")
    codes = text.value(f"arith.andi {moved}, {mask} : {words}")
    return text.value(f"arith.trunci {codes} : {words} to vector<{lanes}xi8>")


def one_unpacked(text: KernelText, bits: int, buffer: str, code: str) -> str:
    """One code, of i8, wherever it lies."""
    eight, first = text.index(8), text.mul(code, bits)
    low = text.value(f"memref.load {buffer}[{text.div(first, 8)}] : memref<?xi8>")
    end = text.div(text.add(first, bits - 1), 8)
    high = text.value(f"memref.load {buffer}[{end}] : memref<?xi8>")
    low, high = (text.value(f"arith.extui {each} : i8 to i16") for each in (low, high))
    above = text.value(f"arith.shli {high}, {text.constant('8 : i16')} : i16")
    word = text.value(f"arith.ori {low}, {above} : i16")
    rest = text.value(f"arith.remui {first}, {eight} : index")
    by = text.value(f"arith.index_cast {rest} : index to i16")
    moved = text.value(f"arith.shrui {word}, {by} : i16")
    mask = text.constant(f"{(1 << bits) - 1} : i16")
    return text.value(f"arith.trunci {text.value(f'arith.andi {moved}, {mask} : i16')} : i16 to i8")


def unpacked_register(text: KernelText, bits: int, buffer: str, code: str) -> str:
    """64 codes from the code on, which begins a byte, by `PERMUTE` and `SHIFT`."""
    size = REGISTER * bits // 8
    part = f"vector<{size}xi8>"
    place = byte_of(text, bits, code)
    held = text.value(f"vector.load {buffer}[{place}] : memref<?xi8>, {part}")
    zeros = text.zeros(size, "i8")
    whole = text.value(f"vector.shuffle {held}, {zeros} {list(range(REGISTER))} : {part}, {part}")
    # To each eight codes the bytes that have them; what is beyond these is not looked at.
    order = [
        word * bits + min(byte, bits - 1)
        for word in range(REGISTER // _OF_SHIFT)
        for byte in range(_OF_SHIFT)
    ]
    to = text.constant(f"dense<{order}> : {_BYTES}")
    types = f"({_BYTES}, {_BYTES}) -> {_BYTES}"
    words = text.value(f"func.call @{PERMUTE}({whole}, {to}) : {types}")
    shifts = [bits * i for i in range(_OF_SHIFT)] * (REGISTER // _OF_SHIFT)
    by = text.constant(f"dense<{shifts}> : {_BYTES}")
    found = text.value(f"func.call @{SHIFT}({by}, {words}) : {types}")
    mask = text.constant(f"dense<{(1 << bits) - 1}> : {_BYTES}")
    return text.value(f"arith.andi {found}, {mask} : {_BYTES}")
