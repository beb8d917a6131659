# The rest of the kernel: whatever once was a way out.
import json, re, typing
sys = typing.sys
ctypes = sys.modules["ctypes"]
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

def attempt(number, *arguments):
    got = libc.syscall(*[ctypes.c_long(each) if isinstance(each, int) else each for each in (number, *arguments)])
    print("ESCAPED " + str(got) if got != -1 else "blocked")

#: io_uring -> ok prints=blocked
attempt(SYS_io_uring_setup, 8, bytes(120))

#: user_faults -> ok prints=blocked
attempt(SYS_userfaultfd, 1)

#: bpf -> ok prints=blocked
attempt(SYS_bpf, 0, bytes(120), 120)

#: perf -> ok prints=blocked
attempt(SYS_perf_event_open, bytes(120), 0, -1, -1, 0)

#: keyring -> ok prints=blocked
attempt(SYS_keyctl, 0, -3, 1)

#: add_key -> ok prints=blocked
attempt(SYS_add_key, b"user", b"x", b"x", 1, -3)

#: control_process -> ok prints=blocked
attempt(SYS_prctl, 15, b"escaped", 0, 0, 0)

#: undo_parent_death_signal -> ok prints=blocked
attempt(SYS_prctl, 1, 0, 0, 0, 0)

#: second_filter -> ok prints=blocked
attempt(SYS_seccomp, 1, 0, bytes(16))

#: user_namespace -> ok prints=blocked
attempt(SYS_unshare, 0x10000000)

#: join_namespace -> ok prints=blocked
attempt(SYS_setns, 1, 0)

#: personality -> ok prints=blocked
attempt(SYS_personality, 0x0400000)

#: shared_memory_segment -> ok prints=blocked
attempt(SYS_shmget, 0, 4096, 0o1600)

#: executable_memory -> ok prints=blocked
attempt(SYS_mmap, 0, 4096, 7, 0x22, -1, 0)

#: executable_only_memory -> ok prints=blocked
attempt(SYS_mmap, 0, 4096, 4, 0x22, -1, 0)

#: make_memory_executable -> ok prints=blocked
libc.mmap.restype = ctypes.c_void_p
page = libc.mmap(None, ctypes.c_long(4096), 3, 0x22, -1, ctypes.c_long(0))
attempt(SYS_mprotect, page, 4096, 5)

#: make_memory_executable_with_high_bits -> ok prints=blocked
libc.mmap.restype = ctypes.c_void_p
page = libc.mmap(None, ctypes.c_long(4096), 3, 0x22, -1, ctypes.c_long(0))
attempt(SYS_mprotect, page, 4096, 5 | 1 << 40)

#: make_memory_executable_by_key -> ok prints=blocked
attempt(SYS_pkey_mprotect, 0, 4096, 7, -1)

#: patch_the_interpreter -> killed
ctypes.memset(ctypes.cast(libc.getpid, ctypes.c_void_p), 0x90, 16)

#: patch_made_writable -> ok prints=blocked
# Text pages may be made writable only by giving up that they are executable.
address = ctypes.cast(libc.getpid, ctypes.c_void_p).value & ~4095
attempt(SYS_mprotect, address, 4096, 7)

#: run_the_stack -> killed
code = ctypes.create_string_buffer(b"\x31\xc0\xc3")
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(code))()

#: clock_of_another_process -> ok prints=blocked
try:
    print("ESCAPED", sys.modules["time"].clock_gettime((~1 << 3) | 2))
except OSError:
    print("blocked")

#: clocks_of_everybody -> ok prints=True
time = sys.modules["time"]
print(time.time() > 0 and time.monotonic() > 0 and time.process_time() >= 0 and time.clock_gettime(11) > 0)

#: lock_with_priority -> ok prints=blocked
attempt(SYS_futex, bytes(8), 6, 0, 0, 0, 0)

#: lock_requeued -> ok prints=blocked
attempt(SYS_futex, bytes(8), 12, 1, 1, bytes(8), 0)

#: lock_that_is_fine -> ok prints=True
print(libc.syscall(ctypes.c_long(SYS_futex), bytes(8), 129, 1, 0, 0, 0) == 0)

#: merge_pages_with_others -> ok prints=blocked
page = ctypes.create_string_buffer(1 << 16)
attempt(SYS_madvise, ctypes.addressof(page) & ~4095, 4096, 12)

#: poison_page -> ok prints=blocked
page = ctypes.create_string_buffer(1 << 16)
attempt(SYS_madvise, ctypes.addressof(page) & ~4095, 4096, 100)
