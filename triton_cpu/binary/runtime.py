# SPDX-License-Identifier: Apache-2.0
"""The small library that every kernel runs under: the loop over program ids, threads, scratch.

It is LLVM IR, compiled and linked like a kernel, so that the Python path needs no C compiler. It
exports what kernels call (``triton_cpu_print``, ``triton_cpu_fail``) and what the launcher calls
(``triton_cpu_launch``, ``triton_cpu_start``).
"""

from __future__ import annotations

SERIAL_NANOSECONDS = 15_000
"""Below so much estimated work, waking the other threads costs more than it saves."""

CHUNKS_PER_THREAD = 8
"""Programs are handed out in so many pieces a thread: fine enough to balance uneven ones, coarse
enough that the shared counter is rarely touched."""

FAILURE_BYTES = 2048
"""Room for the text of the first failing assertion of a launch."""

# The launch, as the threads share it: kernel, arguments, grid (x, y, z), padding, programs,
# programs a chunk, the next program, bytes of scratch.
_LAUNCH = "{ ptr, ptr, i32, i32, i32, i32, i64, i64, i64, i64 }"

RUNTIME_IR = f"""
%launch = type {_LAUNCH}

@triton_cpu_parallel = global ptr null
@triton_cpu_failure_text = global [{FAILURE_BYTES} x i8] zeroinitializer
@failed = internal global i32 0
@key = internal global i32 0

declare i64 @write(i32, ptr, i64)
declare i32 @clock_gettime(i32, ptr)
declare i32 @pthread_key_create(ptr, ptr)
declare ptr @pthread_getspecific(i32)
declare i32 @pthread_setspecific(i32, ptr)
declare ptr @aligned_alloc(i64, i64)
declare void @free(ptr)
declare void @abort()
declare i32 @__register_atfork(ptr, ptr, ptr, ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
declare i32 @llvm.smin.i32(i32, i32)

; Once a process, before the first launch. `parallel` is OpenMP's GOMP_parallel, or null.
define void @triton_cpu_start(ptr %parallel) {{
  store ptr %parallel, ptr @triton_cpu_parallel
  %created = call i32 @pthread_key_create(ptr @key, ptr @free)
  %registered = call i32 @__register_atfork(ptr null, ptr null, ptr @in_forked_child, ptr null)
  ret void
}}

; A pool of threads does not survive a fork, and OpenMP waits for it for ever: a child is serial.
; glibc's pthread_atfork is no symbol of its shared library; this is what it calls.
define internal void @in_forked_child() {{
  store ptr null, ptr @triton_cpu_parallel
  ret void
}}

define internal void @put(i32 %file, ptr %text, i64 %bytes) {{
entry:
  br label %head
head:
  %at = phi ptr [%text, %entry], [%next, %more]
  %left = phi i64 [%bytes, %entry], [%rest, %more]
  %done = call i64 @write(i32 %file, ptr %at, i64 %left)
  %wrong = icmp sle i64 %done, 0
  br i1 %wrong, label %end, label %more
more:
  %next = getelementptr i8, ptr %at, i64 %done
  %rest = sub i64 %left, %done
  %all = icmp eq i64 %rest, 0
  br i1 %all, label %end, label %head
end:
  ret void
}}

define void @triton_cpu_print(ptr %text, i64 %bytes) {{
  call void @put(i32 1, ptr %text, i64 %bytes)
  ret void
}}

; The first failure of a launch keeps its text for the caller; every one goes to stderr.
define void @triton_cpu_fail(ptr %text, i64 %bytes) {{
entry:
  call void @put(i32 2, ptr %text, i64 %bytes)
  %pair = cmpxchg ptr @failed, i32 0, i32 1 seq_cst seq_cst
  %first = extractvalue {{ i32, i1 }} %pair, 1
  br i1 %first, label %keep, label %end
keep:
  %kept = call i64 @llvm.umin.i64(i64 %bytes, i64 {FAILURE_BYTES - 1})
  call void @llvm.memcpy.p0.p0.i64(ptr @triton_cpu_failure_text, ptr %text, i64 %kept, i1 false)
  %stop = getelementptr i8, ptr @triton_cpu_failure_text, i64 %kept
  store i8 0, ptr %stop
  br label %end
end:
  ret void
}}

; This thread's scratch, kept from launch to launch. Its first 64 bytes hold its size.
define internal ptr @scratch_of_thread(i64 %bytes) {{
entry:
  %none = icmp eq i64 %bytes, 0
  br i1 %none, label %empty, label %look
empty:
  ret ptr null
look:
  %name = load i32, ptr @key
  %old = call ptr @pthread_getspecific(i32 %name)
  %absent = icmp eq ptr %old, null
  br i1 %absent, label %make, label %measure
measure:
  %size = load i64, ptr %old
  %enough = icmp uge i64 %size, %bytes
  br i1 %enough, label %found, label %drop
drop:
  call void @free(ptr %old)
  br label %make
make:
  %more = add i64 %bytes, 127
  %room = and i64 %more, -64
  %new = call ptr @aligned_alloc(i64 64, i64 %room)
  %exhausted = icmp eq ptr %new, null
  br i1 %exhausted, label %die, label %keep
die:
  call void @abort()
  unreachable
keep:
  store i64 %bytes, ptr %new
  %stored = call i32 @pthread_setspecific(i32 %name, ptr %new)
  br label %found
found:
  %block = phi ptr [%old, %measure], [%new, %keep]
  %start = getelementptr i8, ptr %block, i64 64
  ret ptr %start
}}

; Programs %from to %to (exclusive), x fastest.
define internal void @programs(ptr %launch, i64 %from, i64 %to, ptr %scratch) {{
entry:
  %kernel = load ptr, ptr %launch
  %arguments_at = getelementptr %launch, ptr %launch, i32 0, i32 1
  %arguments = load ptr, ptr %arguments_at
  %gx_at = getelementptr %launch, ptr %launch, i32 0, i32 2
  %gx = load i32, ptr %gx_at
  %gy_at = getelementptr %launch, ptr %launch, i32 0, i32 3
  %gy = load i32, ptr %gy_at
  %gz_at = getelementptr %launch, ptr %launch, i32 0, i32 4
  %gz = load i32, ptr %gz_at
  %wide_gx = zext i32 %gx to i64
  %wide_gy = zext i32 %gy to i64
  %row = udiv i64 %from, %wide_gx
  %x64 = urem i64 %from, %wide_gx
  %z64 = udiv i64 %row, %wide_gy
  %y64 = urem i64 %row, %wide_gy
  %x0 = trunc i64 %x64 to i32
  %y0 = trunc i64 %y64 to i32
  %z0 = trunc i64 %z64 to i32
  br label %head
head:
  %i = phi i64 [%from, %entry], [%i1, %next]
  %x = phi i32 [%x0, %entry], [%x2, %next]
  %y = phi i32 [%y0, %entry], [%y2, %next]
  %z = phi i32 [%z0, %entry], [%z2, %next]
  %inside = icmp ult i64 %i, %to
  br i1 %inside, label %one, label %end
one:
  call void %kernel(ptr %arguments, i32 %x, i32 %y, i32 %z, i32 %gx, i32 %gy, i32 %gz, ptr %scratch)
  %state = load atomic i32, ptr @failed monotonic, align 4
  %broken = icmp ne i32 %state, 0
  br i1 %broken, label %end, label %next
next:
  %i1 = add i64 %i, 1
  %x1 = add i32 %x, 1
  %over_x = icmp eq i32 %x1, %gx
  %x2 = select i1 %over_x, i32 0, i32 %x1
  %step_y = zext i1 %over_x to i32
  %y1 = add i32 %y, %step_y
  %over_y = icmp eq i32 %y1, %gy
  %y2 = select i1 %over_y, i32 0, i32 %y1
  %step_z = zext i1 %over_y to i32
  %z2 = add i32 %z, %step_z
  br label %head
end:
  ret void
}}

; What each thread does: takes chunks until none is left.
define internal void @thread(ptr %launch) {{
entry:
  %total_at = getelementptr %launch, ptr %launch, i32 0, i32 6
  %total = load i64, ptr %total_at
  %chunk_at = getelementptr %launch, ptr %launch, i32 0, i32 7
  %chunk = load i64, ptr %chunk_at
  %next_at = getelementptr %launch, ptr %launch, i32 0, i32 8
  %bytes_at = getelementptr %launch, ptr %launch, i32 0, i32 9
  %bytes = load i64, ptr %bytes_at
  %scratch = call ptr @scratch_of_thread(i64 %bytes)
  br label %head
head:
  %state = load atomic i32, ptr @failed monotonic, align 4
  %sound = icmp eq i32 %state, 0
  br i1 %sound, label %take, label %end
take:
  %from = atomicrmw add ptr %next_at, i64 %chunk monotonic
  %any = icmp ult i64 %from, %total
  br i1 %any, label %some, label %end
some:
  %after = add i64 %from, %chunk
  %to = call i64 @llvm.umin.i64(i64 %after, i64 %total)
  call void @programs(ptr %launch, i64 %from, i64 %to, ptr %scratch)
  br label %head
end:
  ret void
}}

define internal i64 @now() {{
  %time = alloca {{ i64, i64 }}
  %ok = call i32 @clock_gettime(i32 1, ptr %time)
  %seconds = load i64, ptr %time
  %rest_at = getelementptr {{ i64, i64 }}, ptr %time, i32 0, i32 1
  %rest = load i64, ptr %rest_at
  %whole = mul i64 %seconds, 1000000000
  %sum = add i64 %whole, %rest
  ret i64 %sum
}}

; Runs the whole grid; 0, or 1 when a program called triton_cpu_fail.
define i32 @triton_cpu_launch(ptr %kernel, ptr %arguments, i32 %gx, i32 %gy, i32 %gz,
                              i32 %threads, i64 %bytes) {{
entry:
  %launch = alloca %launch, align 64
  %wide_gx = zext i32 %gx to i64
  %wide_gy = zext i32 %gy to i64
  %wide_gz = zext i32 %gz to i64
  %plane = mul i64 %wide_gx, %wide_gy
  %total = mul i64 %plane, %wide_gz
  %nothing = icmp eq i64 %total, 0
  br i1 %nothing, label %good, label %fill
good:
  ret i32 0
fill:
  store ptr %kernel, ptr %launch
  %arguments_at = getelementptr %launch, ptr %launch, i32 0, i32 1
  store ptr %arguments, ptr %arguments_at
  %gx_at = getelementptr %launch, ptr %launch, i32 0, i32 2
  store i32 %gx, ptr %gx_at
  %gy_at = getelementptr %launch, ptr %launch, i32 0, i32 3
  store i32 %gy, ptr %gy_at
  %gz_at = getelementptr %launch, ptr %launch, i32 0, i32 4
  store i32 %gz, ptr %gz_at
  %total_at = getelementptr %launch, ptr %launch, i32 0, i32 6
  store i64 %total, ptr %total_at
  %bytes_at = getelementptr %launch, ptr %launch, i32 0, i32 9
  store i64 %bytes, ptr %bytes_at
  %scratch = call ptr @scratch_of_thread(i64 %bytes)
  %parallel = load ptr, ptr @triton_cpu_parallel
  %single = icmp eq i64 %total, 1
  %alone = icmp sle i32 %threads, 1
  %serial_only = icmp eq ptr %parallel, null
  %a = or i1 %single, %alone
  %b = or i1 %a, %serial_only
  br i1 %b, label %serial, label %try
serial:
  call void @programs(ptr %launch, i64 0, i64 %total, ptr %scratch)
  br label %end
try:
  ; The first program tells what the rest will cost.
  %before = call i64 @now()
  call void @programs(ptr %launch, i64 0, i64 1, ptr %scratch)
  %after = call i64 @now()
  %spent = sub i64 %after, %before
  %rest = sub i64 %total, 1
  %estimate = mul i64 %spent, %rest
  %little = icmp ult i64 %estimate, {SERIAL_NANOSECONDS}
  br i1 %little, label %little_work, label %share
little_work:
  %state = load atomic i32, ptr @failed monotonic, align 4
  %sound = icmp eq i32 %state, 0
  br i1 %sound, label %remaining, label %end
remaining:
  call void @programs(ptr %launch, i64 1, i64 %total, ptr %scratch)
  br label %end
share:
  %wide_threads = zext i32 %threads to i64
  %pieces = mul i64 %wide_threads, {CHUNKS_PER_THREAD}
  %even = udiv i64 %rest, %pieces
  %chunk = call i64 @llvm.umax.i64(i64 %even, i64 1)
  %chunk_at = getelementptr %launch, ptr %launch, i32 0, i32 7
  store i64 %chunk, ptr %chunk_at
  %next_at = getelementptr %launch, ptr %launch, i32 0, i32 8
  store i64 1, ptr %next_at
  %useful = call i64 @llvm.umin.i64(i64 %rest, i64 %wide_threads)
  %count = trunc i64 %useful to i32
  call void %parallel(ptr @thread, ptr %launch, i32 %count, i32 0)
  br label %end
end:
  %outcome = atomicrmw xchg ptr @failed, i32 0 seq_cst
  ret i32 %outcome
}}
"""
