"""A module that runs on simulated devices, called on arrays."""

import functools
import math
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from mlir_fp8.arrays.address import address_of
from mlir_fp8.arrays.exchange import Exchange
from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.compiled_module import CompiledModule, argument_array
from mlir_fp8.compiling.native.exchange import call_as
from mlir_fp8.failures.internal_error import public
from mlir_fp8.simulation.meetings import Meetings


class SimulatedModule:
    """Native code for an entry function, run by a thread for each of several devices.

    Calling it takes an array per argument and gives a tuple of new numpy arrays, of exactly the
    types that `arguments` and `results` say. Where the module is the program of each device
    (`is_for_each`), these have a dimension of devices first, in the order of StableHLO's flattened
    ids, `replica * partitions + partition`. Elsewhere it is a program of all devices: arguments and
    results are whole tensors.
    Raises `Fp8Error` naming the op where devices wait for each other for ever, and where they
    differ on a result that the program says is one. Calls from several threads are independent.
    """

    def __init__(
        self,
        compiled: CompiledModule,
        exchanges: Sequence[Exchange],
        grid: tuple[int, int],
        arguments: Sequence[TensorSpec],
        results: Sequence[TensorSpec],
    ) -> None:
        self.entry = compiled.entry
        self.replicas, self.partitions = grid
        self.arguments = tuple(arguments)
        self.results = tuple(results)
        own = [*compiled.arguments, *compiled.results]
        self.is_for_each = own != [*arguments, *results]
        self._compiled = compiled
        self._exchanges = tuple(exchanges)

    @property
    def devices(self) -> int:
        """How many there are."""
        return self.replicas * self.partitions

    @public
    def __call__(self, *arrays: Any) -> tuple[np.ndarray, ...]:
        if len(arrays) != len(self.arguments):
            raise Fp8Error(
                f"'{self.entry}' takes {len(self.arguments)} arguments, {len(arrays)} were given"
            )
        given = [
            argument_array(number, spec, array)
            for number, (spec, array) in enumerate(zip(self.arguments, arrays, strict=True))
        ]
        results = [
            np.empty((self.devices, *spec.shape), spec.dtype) for spec in self._compiled.results
        ]
        self._run(given, results)
        if self.is_for_each:
            return tuple(results)
        for number, result in enumerate(results):
            self._check_one(number, result)
        return tuple(result[0] for result in results)

    def _run(self, given: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> None:
        meetings = Meetings(self._exchanges, self.devices)

        def run(device: int) -> None:
            own = slice(device, device + 1)
            parts = [each[own] for each in given] if self.is_for_each else list(given)
            parts += [each[own] for each in results]
            addresses = [address_of(each) for each in parts if math.prod(each.shape)]
            exchange = functools.partial(meetings.exchange, device)
            try:
                call_as(exchange, lambda: self._compiled.run_on(addresses))
            except BaseException as error:  # of this function's own: native code raises nothing
                meetings.fail(f"device {device}: {type(error).__name__}: {error}")
            else:
                meetings.leave()

        # Daemons: those that wait for ever do not keep the process.
        threads = [
            threading.Thread(target=run, args=(device,), daemon=True)
            for device in range(self.devices)
        ]
        try:
            for thread in threads:
                thread.start()
            failure = meetings.wait()
        except BaseException as error:
            meetings.fail(type(error).__name__)
            raise
        if failure:
            raise Fp8Error(failure)
        for thread in threads:
            thread.join()

    def _check_one(self, number: int, result: np.ndarray) -> None:
        if not result.size:
            return
        codes = result.reshape(self.devices, -1).view(np.uint8)
        differing = np.flatnonzero((codes != codes[0]).any(axis=1))
        if len(differing):
            raise Fp8Error(
                f"result {number} of '{self.entry}' is one tensor, and device {differing[0]} has "
                "another than device 0: the program's out_shardings call replicated what is not"
            )
