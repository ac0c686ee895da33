// The threads that big loops are shared among: one pool per process, for all compiled modules.
//
// `_mlir_ciface_fp8_parallel_for(task, arguments, n, grain, threads)` calls
// `task(arguments, begin, end)` on ranges that together are [0, n), each a multiple of `grain` but for
// the last, on the caller and on up to `threads - 1` workers, and returns when all are done; 0 threads
// are as many as `set_threads` was told. Where another call holds the pool, where threads cannot be
// had, or where `n` is no more than `grain`, the caller does all of it.
//
// A call waits for the workers that take part in it, not for those that have not woken up, as they may
// not for long where other processes keep the processors busy: these find it closed.
//
// A worker that wakes on the caller's processor would wait for it, for longer than most calls take:
// workers may use all of the caller's processors but the one it is on, where the system tells which
// that is.
//
// The mutexes are set up by the first call, again in a process that was forked; what other threads
// call meanwhile they do alone.

llvm.func @pthread_create(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
llvm.func @pthread_detach(i64) -> i32
llvm.func @pthread_mutex_init(!llvm.ptr, !llvm.ptr) -> i32
llvm.func @pthread_mutex_lock(!llvm.ptr) -> i32
llvm.func @pthread_mutex_trylock(!llvm.ptr) -> i32
llvm.func @pthread_mutex_unlock(!llvm.ptr) -> i32
llvm.func @pthread_cond_init(!llvm.ptr, !llvm.ptr) -> i32
llvm.func @pthread_cond_wait(!llvm.ptr, !llvm.ptr) -> i32
llvm.func @pthread_cond_signal(!llvm.ptr) -> i32
llvm.func @pthread_cond_broadcast(!llvm.ptr) -> i32
llvm.func @getpid() -> i32
llvm.func @sched_yield() -> i32
llvm.func extern_weak @sched_getcpu() -> i32
llvm.func extern_weak @sched_getaffinity(i32, i64, !llvm.ptr) -> i32
llvm.func extern_weak @pthread_setaffinity_np(i64, i64, !llvm.ptr) -> i32

// Room enough for glibc's, musl's and Apple's types.
llvm.mlir.global internal @busy() {addr_space = 0 : i32, alignment = 16 : i64} : !llvm.array<16 x i64> { %0 = llvm.mlir.zero : !llvm.array<16 x i64> llvm.return %0 : !llvm.array<16 x i64> }
llvm.mlir.global internal @lock() {addr_space = 0 : i32, alignment = 16 : i64} : !llvm.array<16 x i64> { %0 = llvm.mlir.zero : !llvm.array<16 x i64> llvm.return %0 : !llvm.array<16 x i64> }
llvm.mlir.global internal @work() {addr_space = 0 : i32, alignment = 16 : i64} : !llvm.array<16 x i64> { %0 = llvm.mlir.zero : !llvm.array<16 x i64> llvm.return %0 : !llvm.array<16 x i64> }
llvm.mlir.global internal @done() {addr_space = 0 : i32, alignment = 16 : i64} : !llvm.array<16 x i64> { %0 = llvm.mlir.zero : !llvm.array<16 x i64> llvm.return %0 : !llvm.array<16 x i64> }
llvm.mlir.global internal @default_threads(1 : i64) : i64
llvm.mlir.global internal @claimed(0 : i32) {alignment = 4 : i64} : i32
llvm.mlir.global internal @owner(0 : i32) {alignment = 4 : i64} : i32
llvm.mlir.global internal @workers(0 : i64) : i64
llvm.mlir.global internal @handles() {addr_space = 0 : i32, alignment = 16 : i64} : !llvm.array<1024 x i64> { %0 = llvm.mlir.zero : !llvm.array<1024 x i64> llvm.return %0 : !llvm.array<1024 x i64> }
llvm.mlir.global internal @avoided(-1 : i32) : i32
llvm.mlir.global internal @generation(0 : i64) : i64
llvm.mlir.global internal @active(0 : i64) : i64
llvm.mlir.global internal @open(0 : i64) : i64
llvm.mlir.global internal @helpers(0 : i64) : i64
llvm.mlir.global internal @next(0 : i64) : i64
llvm.mlir.global internal @count(0 : i64) : i64
llvm.mlir.global internal @chunk(0 : i64) : i64
llvm.mlir.global internal @task() : !llvm.ptr { %0 = llvm.mlir.zero : !llvm.ptr llvm.return %0 : !llvm.ptr }
llvm.mlir.global internal @arguments() : !llvm.ptr { %0 = llvm.mlir.zero : !llvm.ptr llvm.return %0 : !llvm.ptr }

llvm.func internal @start() {
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i64) : i64
  %busy = llvm.mlir.addressof @busy : !llvm.ptr
  %lock = llvm.mlir.addressof @lock : !llvm.ptr
  %work = llvm.mlir.addressof @work : !llvm.ptr
  %done = llvm.mlir.addressof @done : !llvm.ptr
  %owner = llvm.mlir.addressof @owner : !llvm.ptr
  %workers = llvm.mlir.addressof @workers : !llvm.ptr
  %pid = llvm.call @getpid() : () -> i32
  llvm.call @pthread_mutex_init(%busy, %null) : (!llvm.ptr, !llvm.ptr) -> i32
  llvm.call @pthread_mutex_init(%lock, %null) : (!llvm.ptr, !llvm.ptr) -> i32
  llvm.call @pthread_cond_init(%work, %null) : (!llvm.ptr, !llvm.ptr) -> i32
  llvm.call @pthread_cond_init(%done, %null) : (!llvm.ptr, !llvm.ptr) -> i32
  %active = llvm.mlir.addressof @active : !llvm.ptr
  %open = llvm.mlir.addressof @open : !llvm.ptr
  llvm.store %zero, %workers : i64, !llvm.ptr
  llvm.store %zero, %active : i64, !llvm.ptr
  llvm.store %zero, %open : i64, !llvm.ptr
  llvm.store %pid, %owner atomic release {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.return
}

// Takes chunks until none is left.
llvm.func internal @take_chunks() {
  %next = llvm.mlir.addressof @next : !llvm.ptr
  %count_at = llvm.mlir.addressof @count : !llvm.ptr
  %chunk_at = llvm.mlir.addressof @chunk : !llvm.ptr
  %task_at = llvm.mlir.addressof @task : !llvm.ptr
  %arguments_at = llvm.mlir.addressof @arguments : !llvm.ptr
  %count = llvm.load %count_at : !llvm.ptr -> i64
  %chunk = llvm.load %chunk_at : !llvm.ptr -> i64
  %task = llvm.load %task_at : !llvm.ptr -> !llvm.ptr
  %arguments = llvm.load %arguments_at : !llvm.ptr -> !llvm.ptr
  llvm.br ^take
^take:
  %begin = llvm.atomicrmw add %next, %chunk seq_cst : !llvm.ptr, i64
  %more = llvm.icmp "slt" %begin, %count : i64
  llvm.cond_br %more, ^run, ^end
^run:
  %after = llvm.add %begin, %chunk : i64
  %end = llvm.intr.smin(%after, %count) : (i64, i64) -> i64
  llvm.call %task(%arguments, %begin, %end) : !llvm.ptr, (!llvm.ptr, i64, i64) -> ()
  llvm.br ^take
^end:
  llvm.return
}

// Waits until what is at `%place` is no longer `%value`, but not for long: waking a thread that sleeps
// takes as long as many a loop. Other threads that want the processor get it.
llvm.func internal @spin(%place: !llvm.ptr, %value: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %rounds = llvm.mlir.constant(400 : i64) : i64
  llvm.br ^look(%zero : i64)
^look(%round: i64):
  %now = llvm.load volatile %place : !llvm.ptr -> i64
  %same = llvm.icmp "eq" %now, %value : i64
  %early = llvm.icmp "ult" %round, %rounds : i64
  %goes_on = llvm.and %same, %early : i1
  llvm.cond_br %goes_on, ^yield, ^end
^yield:
  llvm.call @sched_yield() : () -> i32
  %next = llvm.add %round, %one : i64
  llvm.br ^look(%next : i64)
^end:
  llvm.return
}

// `%self` holds the worker's number in its low 16 bits, above them the last generation before it.
llvm.func internal @worker(%self: !llvm.ptr) -> !llvm.ptr {
  %one = llvm.mlir.constant(1 : i64) : i64
  %zero = llvm.mlir.constant(0 : i64) : i64
  %mask = llvm.mlir.constant(65535 : i64) : i64
  %bits = llvm.mlir.constant(16 : i64) : i64
  %lock = llvm.mlir.addressof @lock : !llvm.ptr
  %work = llvm.mlir.addressof @work : !llvm.ptr
  %done = llvm.mlir.addressof @done : !llvm.ptr
  %generation_at = llvm.mlir.addressof @generation : !llvm.ptr
  %helpers_at = llvm.mlir.addressof @helpers : !llvm.ptr
  %active_at = llvm.mlir.addressof @active : !llvm.ptr
  %open_at = llvm.mlir.addressof @open : !llvm.ptr
  %packed = llvm.ptrtoint %self : !llvm.ptr to i64
  %number = llvm.and %packed, %mask : i64
  %born = llvm.lshr %packed, %bits : i64
  llvm.call @pthread_mutex_lock(%lock) : (!llvm.ptr) -> i32
  llvm.br ^wait(%born : i64)
^wait(%last: i64):
  %current = llvm.load volatile %generation_at : !llvm.ptr -> i64
  %same = llvm.icmp "eq" %current, %last : i64
  llvm.cond_br %same, ^sleep(%last : i64), ^wake
^sleep(%still: i64):
  llvm.call @pthread_mutex_unlock(%lock) : (!llvm.ptr) -> i32
  llvm.call @spin(%generation_at, %still) : (!llvm.ptr, i64) -> ()
  llvm.call @pthread_mutex_lock(%lock) : (!llvm.ptr) -> i32
  %after = llvm.load volatile %generation_at : !llvm.ptr -> i64
  %unchanged = llvm.icmp "eq" %after, %still : i64
  llvm.cond_br %unchanged, ^block(%still : i64), ^wake
^block(%asleep: i64):
  llvm.call @pthread_cond_wait(%work, %lock) : (!llvm.ptr, !llvm.ptr) -> i32
  %now = llvm.load volatile %generation_at : !llvm.ptr -> i64
  %spurious = llvm.icmp "eq" %now, %asleep : i64
  llvm.cond_br %spurious, ^block(%asleep : i64), ^wake
^wake:
  %generation = llvm.load volatile %generation_at : !llvm.ptr -> i64
  %open = llvm.load volatile %open_at : !llvm.ptr -> i64
  %helpers = llvm.load volatile %helpers_at : !llvm.ptr -> i64
  %is_open = llvm.icmp "eq" %open, %one : i64
  %wanted = llvm.icmp "ult" %number, %helpers : i64
  %helps = llvm.and %is_open, %wanted : i1
  llvm.cond_br %helps, ^help, ^wait(%generation : i64)
^help:
  %before = llvm.load volatile %active_at : !llvm.ptr -> i64
  %with = llvm.add %before, %one : i64
  llvm.store volatile %with, %active_at : i64, !llvm.ptr
  llvm.call @pthread_mutex_unlock(%lock) : (!llvm.ptr) -> i32
  llvm.call @take_chunks() : () -> ()
  llvm.call @pthread_mutex_lock(%lock) : (!llvm.ptr) -> i32
  %active = llvm.load volatile %active_at : !llvm.ptr -> i64
  %left = llvm.sub %active, %one : i64
  llvm.store volatile %left, %active_at : i64, !llvm.ptr
  %is_last = llvm.icmp "eq" %left, %zero : i64
  llvm.cond_br %is_last, ^signal, ^wait(%generation : i64)
^signal:
  llvm.call @pthread_cond_signal(%done) : (!llvm.ptr) -> i32
  llvm.br ^wait(%generation : i64)
}

// Starts workers until there are `%wanted`, or until none can be had. The caller holds @busy.
llvm.func internal @hire(%wanted: i64) {
  %null = llvm.mlir.zero : !llvm.ptr
  %one = llvm.mlir.constant(1 : i64) : i64
  %bits = llvm.mlir.constant(16 : i64) : i64
  %size = llvm.mlir.constant(1 : i32) : i32
  %success = llvm.mlir.constant(0 : i32) : i32
  %workers_at = llvm.mlir.addressof @workers : !llvm.ptr
  %generation_at = llvm.mlir.addressof @generation : !llvm.ptr
  %main = llvm.mlir.addressof @worker : !llvm.ptr
  %thread = llvm.alloca %size x i64 : (i32) -> !llvm.ptr
  %generation = llvm.load %generation_at : !llvm.ptr -> i64
  %born = llvm.shl %generation, %bits : i64
  llvm.br ^check
^check:
  %workers = llvm.load %workers_at : !llvm.ptr -> i64
  %missing = llvm.icmp "slt" %workers, %wanted : i64
  llvm.cond_br %missing, ^create, ^end
^create:
  %packed = llvm.or %born, %workers : i64
  %self = llvm.inttoptr %packed : i64 to !llvm.ptr
  %status = llvm.call @pthread_create(%thread, %null, %main, %self) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
  %created = llvm.icmp "eq" %status, %success : i32
  llvm.cond_br %created, ^count, ^end
^count:
  %handle = llvm.load %thread : !llvm.ptr -> i64
  llvm.call @pthread_detach(%handle) : (i64) -> i32
  %handles = llvm.mlir.addressof @handles : !llvm.ptr
  %handle_at = llvm.getelementptr %handles[%workers] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %handle, %handle_at : i64, !llvm.ptr
  %nowhere = llvm.mlir.constant(-1 : i32) : i32
  %avoided_at = llvm.mlir.addressof @avoided : !llvm.ptr
  llvm.store %nowhere, %avoided_at : i32, !llvm.ptr
  %more = llvm.add %workers, %one : i64
  llvm.store %more, %workers_at : i64, !llvm.ptr
  llvm.br ^check
^end:
  llvm.return
}

// Keeps workers from the processor that the caller, which holds @busy, is on.
llvm.func internal @keep_apart() {
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %none = llvm.mlir.constant(0 : i32) : i32
  %byte_bits = llvm.mlir.constant(3 : i32) : i32
  %seven = llvm.mlir.constant(7 : i32) : i32
  %bit = llvm.mlir.constant(1 : i8) : i8
  %byte_zero = llvm.mlir.constant(0 : i8) : i8
  %all = llvm.mlir.constant(-1 : i8) : i8
  %bytes = llvm.mlir.constant(128 : i64) : i64
  %size = llvm.mlir.constant(16 : i32) : i32
  %most = llvm.mlir.constant(1024 : i32) : i32
  %get_cpu = llvm.mlir.addressof @sched_getcpu : !llvm.ptr
  %get = llvm.mlir.addressof @sched_getaffinity : !llvm.ptr
  %set = llvm.mlir.addressof @pthread_setaffinity_np : !llvm.ptr
  %avoided_at = llvm.mlir.addressof @avoided : !llvm.ptr
  %workers_at = llvm.mlir.addressof @workers : !llvm.ptr
  %handles = llvm.mlir.addressof @handles : !llvm.ptr
  %mask = llvm.alloca %size x i64 : (i32) -> !llvm.ptr
  %can_ask = llvm.icmp "ne" %get_cpu, %null : !llvm.ptr
  %can_get = llvm.icmp "ne" %get, %null : !llvm.ptr
  %can_set = llvm.icmp "ne" %set, %null : !llvm.ptr
  %asks_and_gets = llvm.and %can_ask, %can_get : i1
  %can = llvm.and %asks_and_gets, %can_set : i1
  llvm.cond_br %can, ^ask, ^end
^ask:
  %cpu = llvm.call @sched_getcpu() : () -> i32
  %avoided = llvm.load %avoided_at : !llvm.ptr -> i32
  %moved = llvm.icmp "ne" %cpu, %avoided : i32
  %known = llvm.icmp "ult" %cpu, %most : i32
  %changes = llvm.and %moved, %known : i1
  llvm.cond_br %changes, ^get, ^end
^get:
  "llvm.intr.memset"(%mask, %byte_zero, %bytes) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
  %status = llvm.call @sched_getaffinity(%none, %bytes, %mask) : (i32, i64, !llvm.ptr) -> i32
  %failed = llvm.icmp "slt" %status, %none : i32
  llvm.cond_br %failed, ^end, ^without
^without:
  %byte = llvm.lshr %cpu, %byte_bits : i32
  %byte_at = llvm.getelementptr %mask[%byte] : (!llvm.ptr, i32) -> !llvm.ptr, i8
  %place = llvm.and %cpu, %seven : i32
  %short = llvm.trunc %place : i32 to i8
  %here = llvm.shl %bit, %short : i8
  %held = llvm.load %byte_at : !llvm.ptr -> i8
  %others = llvm.xor %here, %all : i8
  %left = llvm.and %held, %others : i8
  llvm.store %left, %byte_at : i8, !llvm.ptr
  llvm.store %cpu, %avoided_at : i32, !llvm.ptr
  %workers = llvm.load %workers_at : !llvm.ptr -> i64
  llvm.br ^each(%zero : i64)
^each(%i: i64):
  %more = llvm.icmp "slt" %i, %workers : i64
  llvm.cond_br %more, ^keep, ^end
^keep:
  %handle_at = llvm.getelementptr %handles[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %handle = llvm.load %handle_at : !llvm.ptr -> i64
  // Refused where no other processor is left: the worker stays where it may be.
  llvm.call @pthread_setaffinity_np(%handle, %bytes, %mask) : (i64, i64, !llvm.ptr) -> i32
  %next = llvm.add %i, %one : i64
  llvm.br ^each(%next : i64)
^end:
  llvm.return
}

llvm.func @_mlir_ciface_fp8_parallel_for(%task: !llvm.ptr, %arguments: !llvm.ptr, %n: i64, %grain: i64, %threads: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %most_chunks = llvm.mlir.constant(16 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %most = llvm.mlir.constant(1024 : i64) : i64
  %success = llvm.mlir.constant(0 : i32) : i32
  %busy = llvm.mlir.addressof @busy : !llvm.ptr
  %lock = llvm.mlir.addressof @lock : !llvm.ptr
  %work = llvm.mlir.addressof @work : !llvm.ptr
  %done = llvm.mlir.addressof @done : !llvm.ptr
  %owner_at = llvm.mlir.addressof @owner : !llvm.ptr
  %open_at = llvm.mlir.addressof @open : !llvm.ptr
  %generation_at = llvm.mlir.addressof @generation : !llvm.ptr
  %active_at = llvm.mlir.addressof @active : !llvm.ptr
  %helpers_at = llvm.mlir.addressof @helpers : !llvm.ptr
  %next_at = llvm.mlir.addressof @next : !llvm.ptr
  %count_at = llvm.mlir.addressof @count : !llvm.ptr
  %chunk_at = llvm.mlir.addressof @chunk : !llvm.ptr
  %task_at = llvm.mlir.addressof @task : !llvm.ptr
  %arguments_at = llvm.mlir.addressof @arguments : !llvm.ptr
  %default_at = llvm.mlir.addressof @default_threads : !llvm.ptr
  %default = llvm.load %default_at : !llvm.ptr -> i64
  %is_default = llvm.icmp "eq" %threads, %zero : i64
  %asked = llvm.select %is_default, %default, %threads : i1, i64
  %limited = llvm.intr.smin(%asked, %most) : (i64, i64) -> i64
  %wanted = llvm.sub %limited, %one : i64
  %alone = llvm.icmp "sle" %limited, %one : i64
  %small = llvm.icmp "sle" %n, %grain : i64
  %serial = llvm.or %alone, %small : i1
  llvm.cond_br %serial, ^alone, ^process
^process:
  %pid = llvm.call @getpid() : () -> i32
  %owner = llvm.load %owner_at atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32
  %ours = llvm.icmp "eq" %pid, %owner : i32
  llvm.cond_br %ours, ^try, ^claim
^claim:
  %claimed_at = llvm.mlir.addressof @claimed : !llvm.ptr
  %claimant = llvm.atomicrmw xchg %claimed_at, %pid acq_rel : !llvm.ptr, i32
  %late = llvm.icmp "eq" %claimant, %pid : i32
  llvm.cond_br %late, ^alone, ^new
^new:
  llvm.call @start() : () -> ()
  llvm.br ^try
^try:
  %status = llvm.call @pthread_mutex_trylock(%busy) : (!llvm.ptr) -> i32
  %free = llvm.icmp "eq" %status, %success : i32
  llvm.cond_br %free, ^share, ^alone
^share:
  // Sixteen chunks per thread: one that is interrupted, or has more to do, leaves work to the others.
  %shares = llvm.mul %limited, %most_chunks : i64
  %parts = llvm.mul %shares, %grain : i64
  %over = llvm.sub %parts, %one : i64
  %padded = llvm.add %n, %over : i64
  %grains = llvm.udiv %padded, %parts : i64
  %chunk = llvm.mul %grains, %grain : i64
  llvm.call @hire(%wanted) : (i64) -> ()
  llvm.call @keep_apart() : () -> ()
  llvm.call @pthread_mutex_lock(%lock) : (!llvm.ptr) -> i32
  %generation = llvm.load %generation_at : !llvm.ptr -> i64
  %following = llvm.add %generation, %one : i64
  llvm.store %task, %task_at : !llvm.ptr, !llvm.ptr
  llvm.store %arguments, %arguments_at : !llvm.ptr, !llvm.ptr
  llvm.store %n, %count_at : i64, !llvm.ptr
  llvm.store %chunk, %chunk_at : i64, !llvm.ptr
  llvm.store %zero, %next_at : i64, !llvm.ptr
  llvm.store %wanted, %helpers_at : i64, !llvm.ptr
  llvm.store volatile %one, %open_at : i64, !llvm.ptr
  llvm.store volatile %following, %generation_at : i64, !llvm.ptr
  llvm.call @pthread_cond_broadcast(%work) : (!llvm.ptr) -> i32
  llvm.call @pthread_mutex_unlock(%lock) : (!llvm.ptr) -> i32
  llvm.call @take_chunks() : () -> ()
  llvm.call @pthread_mutex_lock(%lock) : (!llvm.ptr) -> i32
  llvm.store volatile %zero, %open_at : i64, !llvm.ptr
  %helping = llvm.load volatile %active_at : !llvm.ptr -> i64
  llvm.call @pthread_mutex_unlock(%lock) : (!llvm.ptr) -> i32
  llvm.br ^watch(%helping : i64)
^watch(%were: i64):
  %nobody = llvm.icmp "eq" %were, %zero : i64
  llvm.cond_br %nobody, ^look, ^spin
^spin:
  llvm.call @spin(%active_at, %were) : (!llvm.ptr, i64) -> ()
  %are = llvm.load volatile %active_at : !llvm.ptr -> i64
  %less = llvm.icmp "ne" %are, %were : i64
  llvm.cond_br %less, ^watch(%are : i64), ^look
^look:
  llvm.call @pthread_mutex_lock(%lock) : (!llvm.ptr) -> i32
  llvm.br ^wait
^wait:
  %active = llvm.load volatile %active_at : !llvm.ptr -> i64
  %finished = llvm.icmp "eq" %active, %zero : i64
  llvm.cond_br %finished, ^end, ^sleep
^sleep:
  llvm.call @pthread_cond_wait(%done, %lock) : (!llvm.ptr, !llvm.ptr) -> i32
  llvm.br ^wait
^end:
  llvm.call @pthread_mutex_unlock(%lock) : (!llvm.ptr) -> i32
  llvm.call @pthread_mutex_unlock(%busy) : (!llvm.ptr) -> i32
  llvm.return
^alone:
  llvm.call %task(%arguments, %zero, %n) : !llvm.ptr, (!llvm.ptr, i64, i64) -> ()
  llvm.return
}

llvm.func @set_threads(%threads: i64) {
  %default_at = llvm.mlir.addressof @default_threads : !llvm.ptr
  llvm.store %threads, %default_at : i64, !llvm.ptr
  llvm.return
}

// Where the function that shares loops is: an execution engine gives out packed interfaces alone.
llvm.func @address(%result: !llvm.ptr) {
  %parallel_for = llvm.mlir.addressof @_mlir_ciface_fp8_parallel_for : !llvm.ptr
  llvm.store %parallel_for, %result : !llvm.ptr, !llvm.ptr
  llvm.return
}
