"""The C header of a library; it is C++, too."""

from collections.abc import Iterator

from mlir_fp8.aot.library import Function, Library
from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.dialects.float_formats import FORMATS

_NATIVE = {"f32": "float", "f64": "double", "complex<f32>": "float", "complex<f64>": "double"}
_TEXT = """\
/* {prefix}.h: written by fp8-translate --emit; link the object file with {libraries}.

   Every function takes pointers to its arguments, then to its results: dense arrays in row-major
   order, one element where the rank is 0, each aligned as its C type. Arguments are only read.
   Results are written, and overlap nothing. Functions may be called from several threads at once.
   They get memory by malloc and release it; without memory they do not return.

   Of f8, f6 and f4 a uint8_t holds one code, of bf16 and f16 a uint16_t; of i1 a uint8_t, 0 or 1;
   of i2 and i4 (ui2, ui4) an int8_t (uint8_t). Complex numbers are two elements, real part first,
   but count as one. Arrays without elements are not passed.{threads} */
#ifndef {guard}
#define {guard}

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

{functions}
#ifdef __cplusplus
}}
#endif

#endif
"""

_THREADS = """

   Up to {library.threads} threads share the work of a call, or as many as {library.set_threads} was
   given; results do not depend on it. The first call that has work for them starts them, they sleep
   between calls: once called, the library must stay loaded."""


def c_header(library: Library) -> str:
    """A declaration for each function, and macros for the shapes and sizes of its arrays."""
    functions = "\n".join("\n".join(_function(each)) + "\n" for each in library.functions)
    is_shared = library.threads > 1
    if is_shared:
        functions = f"void {library.set_threads}(int64_t threads);\n\n{functions}"
    return _TEXT.format(
        prefix=library.prefix,
        guard=f"{library.prefix.upper()}_H",
        libraries="-lm -pthread" if is_shared else "-lm",
        threads=_THREADS.format(library=library) if is_shared else "",
        functions=functions,
    )


def _function(function: Function) -> Iterator[str]:
    parameters: list[str] = []
    yield f"/* @{_in_comment(function.source)} */"
    for side, specs in (("arg", function.arguments), ("res", function.results)):
        for index, spec in enumerate(specs):
            yield from _macros(f"{function.name}_{side}{index}".upper(), spec)
            if 0 in spec.shape:
                continue
            const = "const " if side == "arg" else ""
            parameters.append(f"{const}{c_type(spec.element)} *{side}{index} /* {spec} */")
    listed = ",\n    ".join(parameters) or "void"
    yield f"void {function.name}(\n    {listed});"


def _macros(name: str, spec: TensorSpec) -> Iterator[str]:
    elements = 1
    for size in spec.shape:
        elements *= size
    yield f"#define {name}_RANK {len(spec.shape)}"
    if spec.shape:
        yield f"#define {name}_SHAPE {{{', '.join(map(str, spec.shape))}}}"
    yield f"#define {name}_ELEMENTS {elements}"
    yield f"#define {name}_BYTES {elements * spec.dtype.itemsize}"


def c_type(element: str) -> str:
    """The C type that holds an MLIR element type; of complex numbers, one half."""
    if element in _NATIVE:
        return _NATIVE[element]
    if element in FORMATS:
        return f"uint{FORMATS[element].storage_bits}_t"
    if element == "i1":
        return "uint8_t"
    width = max(8, int(element.lstrip("ui")))
    return f"{'u' if element.startswith('u') else ''}int{width}_t"


def _in_comment(name: str) -> str:
    return name.replace("*/", "* /").replace("\n", " ")
