# Other processes: making, looking at, signalling and outliving them.
import json, re, typing
sys = typing.sys
posix, os, ctypes = (sys.modules[each] for each in ("posix", "os", "ctypes"))
libc = ctypes.CDLL(None, use_errno=True)

def attempt(action, *arguments, **options):
    try:
        print("ESCAPED", action(*arguments, **options))
    except (OSError, RuntimeError, ValueError):
        print("blocked")

def attempt_raw(number, *arguments):
    got = libc.syscall(*[ctypes.c_long(each) if isinstance(each, int) else each for each in (number, *arguments)])
    print("ESCAPED " + str(got) if got != -1 else "blocked")

#: fork -> ok prints=blocked
attempt(posix.fork)

#: fork_bomb -> ok
for each in range(100):
    try:
        while True:
            posix.fork()
    except OSError:
        pass

#: fork_terminal -> ok prints=blocked
attempt(posix.forkpty)

#: fork_raw -> ok prints=blocked
attempt_raw(SYS_clone, 17, 0, 0, 0, 0)

#: fork_as_thread_raw -> ok prints=blocked
attempt_raw(SYS_clone, 0x100 | 0x200 | 0x400 | 0x800 | 0x10000, 0, 0, 0, 0)

#: fork_with_clone3 -> ok prints=blocked
attempt_raw(SYS_clone3, bytes(64), 64)

#: vfork_libc -> ok prints=blocked
print("ESCAPED" if libc.vfork() != -1 else "blocked")

#: daemon -> ok prints=blocked
print("ESCAPED" if libc.daemon(0, 0) == 0 else "blocked")

#: execute -> ok prints=blocked
attempt(posix.execv, "/bin/sh", ["sh", "-c", "echo ESCAPED"])

#: execute_raw -> ok prints=blocked
attempt_raw(SYS_execve, b"/bin/sh", 0, 0)

#: execute_descriptor -> ok prints=blocked
attempt_raw(SYS_execveat, 1, b"", 0, 0, 0x1000)

#: spawn -> ok prints=blocked
attempt(posix.posix_spawn, "/bin/sh", ["sh"], {})

#: system -> ok prints=blocked
print("blocked" if posix.system("echo ESCAPED") != 0 else "ESCAPED")

#: thread -> ok prints=blocked
attempt(sys.modules["_thread"].start_new_thread, print, ("ESCAPED",))

#: parent -> ok prints=-1
print(posix.getppid())

#: kill_zygote -> ok prints=blocked
attempt(posix.kill, ZYGOTE_PID, 9)

#: kill_supervisor -> ok prints=blocked
attempt(posix.kill, SUPERVISOR_PID, 9)

#: look_for_zygote -> ok prints=blocked
attempt(posix.kill, ZYGOTE_PID, 0)

#: look_for_supervisor -> ok prints=blocked
attempt(posix.kill, SUPERVISOR_PID, 0)

#: interrupt_zygote -> ok prints=blocked
attempt_raw(SYS_tgkill, ZYGOTE_PID, ZYGOTE_PID, 2)

#: kill_first_process -> ok prints=blocked
attempt(posix.kill, 1, 9)

#: kill_everybody -> ok prints=blocked
attempt(posix.kill, -1, 9)

#: kill_group -> ok prints=blocked
attempt(posix.killpg, 0, 9)

#: kill_itself -> ok prints=blocked
attempt(posix.kill, posix.getpid(), 9)

#: kill_by_pidfd -> ok prints=blocked
attempt_raw(SYS_pidfd_send_signal, 1, 9, 0, 0)

#: stop_itself -> ok prints=blocked
attempt(posix.kill, posix.getpid(), 19)

#: raise_signal -> ok prints=blocked
attempt(sys.modules["_signal"].raise_signal, 11)

#: own_signal_handler -> ok prints=blocked
attempt(sys.modules["_signal"].signal, 15, lambda *a: None)

#: ignore_signals -> ok prints=blocked
attempt(sys.modules["_signal"].signal, 24, 1)

#: block_signals -> timeout time=0.1
signal = sys.modules["_signal"]
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
while True: pass

#: alarm -> ok
sys.modules["_signal"].alarm(1)

#: interval_timer -> ok prints=blocked
attempt(sys.modules["_signal"].setitimer, 0, 1)

#: wait_for_a_sibling -> ok prints=blocked
attempt(posix.waitpid, -1, 0)

#: trace_zygote -> ok prints=blocked
attempt_raw(SYS_ptrace, 16, ZYGOTE_PID, 0, 0)

#: trace_supervisor -> ok prints=blocked
attempt_raw(SYS_ptrace, 16, SUPERVISOR_PID, 0, 0)

#: trace_me -> ok prints=blocked
attempt_raw(SYS_ptrace, 0, 0, 0, 0)

#: read_memory_of_others -> ok prints=blocked
attempt_raw(SYS_process_vm_readv, 1, bytes(16), 1, bytes(16), 1, 0)

#: read_memory_of_the_zygote -> ok prints=blocked
# At the same address as here, because the child is a copy of the zygote.
here, there = ctypes.create_string_buffer(16), ctypes.create_string_buffer(16)
pair = lambda buffer: ctypes.addressof(buffer).to_bytes(8, "little") + (16).to_bytes(8, "little")
attempt_raw(SYS_process_vm_readv, ZYGOTE_PID, pair(here), 1, pair(there), 1, 0)

#: read_memory_of_the_supervisor -> ok prints=blocked
attempt_raw(SYS_process_vm_readv, SUPERVISOR_PID, bytes(16), 1, bytes(16), 1, 0)

#: write_memory_of_others -> ok prints=blocked
attempt_raw(SYS_process_vm_writev, 1, bytes(16), 1, bytes(16), 1, 0)

#: write_memory_of_the_zygote -> ok prints=blocked
attempt_raw(SYS_process_vm_writev, ZYGOTE_PID, bytes(16), 1, bytes(16), 1, 0)

#: handle_of_others -> ok prints=blocked
attempt_raw(SYS_pidfd_open, 1, 0)

#: handle_of_the_zygote -> ok prints=blocked
attempt_raw(SYS_pidfd_open, ZYGOTE_PID, 0)

#: handle_of_the_supervisor -> ok prints=blocked
attempt_raw(SYS_pidfd_open, SUPERVISOR_PID, 0)

#: descriptor_of_others -> ok prints=blocked
attempt_raw(SYS_pidfd_getfd, 1, 0, 0)

#: become_root -> ok prints=blocked
attempt(posix.setuid, 0)

#: become_anybody -> ok prints=blocked
attempt(posix.setresuid, 1000, 1000, 1000)

#: leave_groups -> ok prints=blocked
attempt(posix.setgroups, [0])

#: new_session -> ok prints=blocked
attempt(posix.setsid)

#: priority -> ok prints=blocked
attempt(posix.nice, -5)

#: processors -> ok prints=blocked
attempt(posix.sched_setaffinity, 0, [0])

#: raise_limits -> ok prints=blocked
resource = sys.modules["resource"]
attempt(resource.setrlimit, resource.RLIMIT_AS, (-1, -1))

#: raise_limits_of_others -> ok prints=blocked
attempt_raw(SYS_prlimit64, 1, 9, 0, bytes(16))

#: read_limits_of_the_zygote -> ok prints=blocked
attempt_raw(SYS_prlimit64, ZYGOTE_PID, 9, 0, bytes(16))

#: read_limits_of_the_supervisor -> ok prints=blocked
attempt_raw(SYS_prlimit64, SUPERVISOR_PID, 9, 0, bytes(16))

#: read_limits -> ok prints=blocked
resource = sys.modules["resource"]
attempt(resource.getrlimit, resource.RLIMIT_AS)

#: process_group -> ok prints=blocked
attempt(posix.setpgid, 0, 0)

#: exit_callbacks -> ok prints=
try:
    sys.modules["builtins"].__import__("atexit").register(print, "ESCAPED")
except (ImportError, OSError):
    pass

#: fork_callbacks -> ok prints=
posix.register_at_fork(before=lambda: print("ESCAPED"), after_in_child=lambda: print("ESCAPED"), after_in_parent=lambda: print("ESCAPED"))
