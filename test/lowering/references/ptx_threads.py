"""Which threads of a grid run next, and what the others wait for: barriers, warps, clusters.

Those that are behind run first, all that are at one instruction at once. Who waits is taken out
until somebody wakes him. When nobody is left, `Threads.next` says so, and transfers in flight may
arrive; when none is, the kernel hangs.
"""

from collections.abc import Callable, Hashable

import numpy as np
from ptx_text import Instruction, PtxError

WARP, WARPGROUP = 32, 128
_WAITS, _END = 1 << 40, 1 << 39
_POLLS = 1000
"""How often threads look at memory while nobody else can go on."""
_RESTING = "polls"


class Threads:
    """The places of all threads; `grid` and `cluster` count blocks."""

    def __init__(
        self, grid: tuple[int, int, int], block: int, cluster: tuple[int, int, int],
        seed: int | None = None,
    ) -> None:  # fmt: skip
        if any(a % b for a, b in zip(grid, cluster, strict=True)):
            raise PtxError(f"a grid of {grid} is no multiple of clusters of {cluster}")
        self.blocks, self.block_size = grid[0] * grid[1] * grid[2], block
        self.count = self.blocks * block
        self.place = np.zeros(self.count, np.int64)
        thread = np.arange(self.count)
        self.block_of, self.tid = thread // block, thread % block
        self.lane = self.tid % WARP
        self.warp_of = self.block_of * -(-block // WARP) + self.tid // WARP
        self.group_of = self.block_of * -(-block // WARPGROUP) + self.tid // WARPGROUP
        self.first_lane = thread - self.lane
        self.lanes = np.minimum(WARP, block - (self.tid - self.lane))
        number = np.arange(self.blocks)
        self.index = (
            number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1])
        )  # fmt: skip
        self._place_clusters(grid, cluster)
        self.waits: dict[Hashable, list[np.ndarray]] = {}
        self.reasons: dict[Hashable, Callable[[], str]] = {}
        self._held: dict[int, np.ndarray] = {}
        self._masks: dict[int, np.ndarray] = {}
        self._barriers: dict[tuple[int, int], list[int]] = {}
        self._arrived = np.zeros(self.count, np.int64)
        self._waited = np.zeros(self.count, np.int64)
        self._polls = 0
        self._random = None if seed is None else np.random.default_rng(seed)
        self._burst = 0
        self.may_run = np.ones(self.count, bool)

    def _place_clusters(self, grid: tuple[int, ...], cluster: tuple[int, ...]) -> None:
        index, self.cluster = self.index, cluster
        inside = [at % size for at, size in zip(index, cluster, strict=True)]
        outside = [at // size for at, size in zip(index, cluster, strict=True)]
        across = [size // each for size, each in zip(grid, cluster, strict=True)]
        self.rank = inside[0] + cluster[0] * (inside[1] + cluster[1] * inside[2])
        self.cluster_of = outside[0] + across[0] * (outside[1] + across[1] * outside[2])
        self.cluster_size = cluster[0] * cluster[1] * cluster[2]
        self.block_at = np.zeros((self.blocks // self.cluster_size, self.cluster_size), np.int64)
        self.block_at[self.cluster_of, self.rank] = np.arange(self.blocks)

    def next(self, end: int) -> int | None:
        """The next instruction; None where everybody waits or is done, `end` being behind all."""
        if self._random is not None:
            return self._next_of_some(end)
        now = int(self.place.min())
        return now if now < end else None

    def runnable(self, now: int) -> np.ndarray:
        """The threads at an instruction that go on."""
        found = self.place == now
        return np.flatnonzero(found if self._random is None else found & self.may_run)

    def _next_of_some(self, end: int) -> int | None:
        """As `next`, of warps or blocks chosen at random for some steps, while these can go on."""
        assert self._random is not None
        self._burst -= 1
        if self._burst < 0 or self.place[self.may_run].min() >= end:
            self._burst = int(self._random.integers(1, 100))
            owners = (self.warp_of, self.group_of, self.block_of)[self._random.integers(3)]
            is_chosen = self._random.random(int(owners.max()) + 1) < 0.4
            self.may_run = is_chosen[owners] & (self.place < end)
            if not self.may_run.any():
                self.may_run = np.ones(self.count, bool)
        now = int(self.place[self.may_run].min())
        return now if now < end else None

    def holds(self, now: int) -> bool:
        return now in self._held

    def is_done(self) -> bool:
        return bool((self.place == _END).all())

    def has_ended(self, block: int) -> bool:
        return bool((self.place[self.block_of == block] == _END).all())

    def finish(self, at: np.ndarray) -> None:
        self.place[at] = _END
        self._polls = 0

    def suspend(self, at: np.ndarray, key: Hashable, reason: Callable[[], str]) -> None:
        """Take out threads until somebody calls `wake` with the key."""
        self.place[at] += _WAITS
        self.waits.setdefault(key, []).append(at)
        self.reasons[key] = reason

    def wake(self, key: Hashable) -> None:
        for at in self.waits.pop(key, []):
            self.place[at] -= _WAITS
            self._polls = 0

    def rest(self, at: np.ndarray) -> None:
        """Let all others go first: for those that poll."""
        self.suspend(at, _RESTING, lambda: "polls memory")

    def rouse(self) -> bool:
        """Let those that poll look again, if there are any."""
        polls = self._polls + 1
        if _RESTING not in self.waits or polls > _POLLS:
            return False
        self.wake(_RESTING)
        self._polls = polls
        return True

    def deadlock(self, code: list[Instruction]) -> PtxError:
        lines = [
            f"{self.named(np.concatenate(at))} {self.reasons[key]()}"
            for key, at in self.waits.items()
        ]
        for now, at in self._held.items():
            if len(at):
                lines.append(f"{self.named(at)} waits at {code[now]} for the rest of the warp")
        return PtxError("everybody waits: " + "; ".join(lines))

    def named(self, at: np.ndarray) -> str:
        """Words for the threads of the first block among some."""
        block = int(self.block_of[at[0]])
        own = np.sort(self.tid[at[self.block_of[at] == block]])
        more = f" (and {len(at) - len(own)} of other blocks)" if len(own) < len(at) else ""
        threads = f"{own[0]}" if len(own) == 1 else f"{own[0]} to {own[-1]}, {len(own)} of them,"
        return f"thread {threads} of block {block}{more}"

    def gathered(self, now: int, at: np.ndarray, masks: np.ndarray | None, unit: int) -> np.ndarray:
        """Those of `at`, and who waited at `now`, whose warp or warpgroup is here as a whole.

        `masks`, one for each of `at`, says which lanes a warp consists of. The rest waits.
        """
        if now in self._held and len(held := self._held[now]):
            self.place[held] -= _WAITS - 1
            del self._held[now]
            order = np.argsort(np.concatenate([at, held]))
            at = np.concatenate([at, held])[order]
            if masks is not None:
                masks = np.concatenate([masks, self._masks[now]])[order]
        owner = self.group_of if unit == WARPGROUP else self.warp_of
        keys = owner[at]
        needed = np.full(len(at), WARPGROUP) if unit == WARPGROUP else self.lanes[at]
        if masks is not None:
            masks = masks & ((1 << self.lanes[at]) - 1)
            if ((masks >> self.lane[at]) & 1 == 0).any():
                raise PtxError("a thread takes part that is not in the mask")
            needed = np.array([int(each).bit_count() for each in masks])
            keys = keys * (1 << 32) + masks
        _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
        is_whole = counts[inverse] == needed
        if not is_whole.all():
            rest = at[~is_whole]
            self.place[rest] += _WAITS - 1
            self._held[now] = rest
            if masks is not None:
                self._masks[now] = masks[~is_whole]
        return at[is_whole]

    def barrier(self, number: np.ndarray, count: np.ndarray, at: np.ndarray, waits: bool) -> None:
        """`bar.sync` or `bar.arrive` of a number; `count` 0 stands for the whole block."""
        for block in np.unique(self.block_of[at]):
            for id_ in np.unique(number[self.block_of[at] == block]):
                chosen = (self.block_of[at] == block) & (number == id_)
                self._arrive(int(block), int(id_), count[chosen], at[chosen], waits)

    def _arrive(self, block: int, id_: int, count: np.ndarray, at: np.ndarray, waits: bool) -> None:
        needed = int(count[0]) or self.block_size
        what = f"barrier {id_} of block {block}"
        if not 0 <= id_ < 16 or (count != count[0]).any() or (int(count[0]) % WARP):
            raise PtxError(f"{what} for {sorted(set(count.tolist()))} threads")
        state = self._barriers.setdefault((block, id_), [0, needed])
        if state[1] != needed:
            raise PtxError(f"{what} is for {state[1]} threads and for {needed}")
        state[0] += len(at)
        if state[0] > needed:
            raise PtxError(f"{state[0]} threads come to {what} for {needed}")
        key = ("bar", block, id_)
        if waits:
            reason = f"waits at {what} for {needed} threads, of which"
            self.suspend(at, key, lambda: f"{reason} {state[0]} came")
        if state[0] == needed:
            del self._barriers[block, id_]
            self.wake(key)

    def cluster_arrive(self, at: np.ndarray) -> None:
        if (self._arrived[at] != self._waited[at]).any():
            raise PtxError("barrier.cluster.arrive twice without a wait")
        self._arrived[at] += 1
        for cluster in np.unique(self.cluster_of[self.block_of[at]]):
            own = self.cluster_of[self.block_of] == cluster
            self.wake(("cluster", int(cluster), int(self._arrived[own].min())))

    def cluster_wait(self, at: np.ndarray) -> None:
        if (self._arrived[at] != self._waited[at] + 1).any():
            raise PtxError("barrier.cluster.wait without an arrive")
        self._waited[at] += 1
        for cluster in np.unique(self.cluster_of[self.block_of[at]]):
            own = self.cluster_of[self.block_of] == cluster
            mine = at[self.cluster_of[self.block_of[at]] == cluster]
            for phase in np.unique(self._waited[mine]):
                if self._arrived[own].min() < phase:
                    waiting = mine[self._waited[mine] == phase]
                    reason = f"waits for cluster {cluster}"
                    self.suspend(
                        waiting, ("cluster", int(cluster), int(phase)), lambda text=reason: text
                    )
