# Processes, threads, signals and the event loop.
import asyncio, os, sys, threading, time

def attempt(action, *arguments, **options):
    try:
        print("ESCAPED", action(*arguments, **options))
    except (OSError, RuntimeError, ValueError, NotImplementedError):
        print("blocked")

#: subprocess -> ok prints=blocked
import subprocess
attempt(subprocess.run, ["/bin/sh", "-c", "echo ESCAPED"])

#: subprocess_with_a_shell -> ok prints=blocked
import subprocess
attempt(subprocess.check_output, "id", shell=True)

#: subprocess_of_own_python -> ok prints=blocked
import subprocess
attempt(subprocess.Popen, [sys.executable or "python3", "-c", "1"])

#: popen -> ok prints=blocked
attempt(os.popen, "id")

#: spawned_program -> ok prints=blocked
attempt(os.spawnv, os.P_NOWAIT, "/bin/sh", ["sh"])

#: terminal_program -> ok prints=blocked
import pty
attempt(pty.spawn, ["/bin/sh"])

#: multiprocessing_process -> ok prints=blocked
import multiprocessing
attempt(multiprocessing.Process(target=print).start)

#: multiprocessing_pool -> ok prints=blocked
import multiprocessing
attempt(multiprocessing.Pool, 2)

#: multiprocessing_spawned -> ok prints=blocked
import multiprocessing
attempt(multiprocessing.get_context("spawn").Process(target=print).start)

#: multiprocessing_queue -> ok prints=blocked
import multiprocessing
attempt(multiprocessing.Queue)

#: thread_of_python -> ok prints=blocked
attempt(threading.Thread(target=print, args=("ESCAPED",)).start)

#: thread_pool -> ok prints=blocked
import concurrent.futures
attempt(lambda: concurrent.futures.ThreadPoolExecutor().submit(print, "ESCAPED"))

#: process_pool -> ok prints=blocked
import concurrent.futures
attempt(lambda: concurrent.futures.ProcessPoolExecutor().submit(print, "ESCAPED"))

#: timer_of_threads -> ok prints=blocked
attempt(threading.Timer(0, print, ("ESCAPED",)).start)

#: interpreter_in_the_interpreter -> ok|killed|exception time=2
try:
    import _xxsubinterpreters as interpreters
    interpreters.run_string(interpreters.create(), "import os\ntry:\n    os.fork(); print('ESCAPED')\nexcept OSError: pass")
except (ImportError, RuntimeError):
    pass

#: signal_handlers -> ok prints=blocked
import signal
attempt(signal.signal, signal.SIGTERM, lambda *a: None)

#: signal_alarm -> ok
import signal
signal.alarm(1)

#: signal_wait -> ok prints=blocked
import signal
attempt(signal.sigwait, [signal.SIGUSR1]) if hasattr(signal, "sigwait") else print("blocked")

#: signal_wakeup -> ok prints=blocked
import signal
attempt(signal.set_wakeup_fd, 1)

#: signal_to_itself -> ok prints=blocked
import signal
attempt(os.kill, os.getpid(), signal.SIGKILL)

#: signal_to_neighbours -> ok prints=blocked
for process in [*range(1, 400), *range(max(1, os.getpid() - 50), os.getpid() + 50), -1, 0]:
    for number in (0, 9, 19):
        try:
            os.kill(process, number)
            print("ESCAPED", process, number)
        except OSError:
            pass
print("blocked")

#: trace_neighbours -> ok prints=blocked
import ctypes
libc = ctypes.CDLL(None)
found = [process for process in range(1, 400) if libc.ptrace(16, process, None, None) != -1]
print("ESCAPED" if found else "blocked")

#: fault_handler_later -> ok|exception prints=blocked
import faulthandler
attempt(faulthandler.dump_traceback_later, 0.1, file=open("/dev/null")) if os.path.exists("/none") else print("blocked")

#: loop_runs -> ok prints=[1,4]
async def square(x):
    await asyncio.sleep(0.01)
    return x * x
async def all_of_them():
    print(str(await asyncio.gather(square(1), square(2))).replace(" ", ""))
asyncio.run(all_of_them())

#: loop_with_time_limit -> ok prints=late
async def late():
    try:
        async with asyncio.timeout(0.05):
            await asyncio.sleep(60)
    except TimeoutError:
        print("late")
asyncio.run(late())

#: loop_with_queues_and_locks -> ok prints=3
async def work():
    queue, lock = asyncio.Queue(), asyncio.Lock()
    async def put():
        for each in range(3):
            async with lock:
                await queue.put(each)
    async with asyncio.TaskGroup() as group:
        group.create_task(put())
    print(queue.qsize())
asyncio.run(work())

#: loop_that_is_made_by_hand -> ok prints=1
loop = asyncio.new_event_loop()
print(loop.run_until_complete(asyncio.sleep(0, 1)))
loop.close()

#: loop_connects_nowhere -> ok prints=blocked
attempt(asyncio.run, asyncio.open_connection("127.0.0.1", 80))

#: loop_serves_nobody -> ok prints=blocked
# Addresses that cannot be used are skipped; none is left.
server = asyncio.run(asyncio.start_server(print, "127.0.0.1", 0))
print("ESCAPED" if server.sockets else "blocked")

#: loop_serves_no_path -> ok prints=blocked
attempt(asyncio.run, asyncio.start_unix_server(print, "socket"))

#: loop_resolves_nothing -> ok prints=blocked
async def resolve():
    await asyncio.get_running_loop().getaddrinfo("localhost", 80)
attempt(asyncio.run, resolve())

#: loop_has_no_threads -> ok prints=blocked
attempt(asyncio.run, asyncio.to_thread(print, "ESCAPED"))

#: loop_has_no_processes -> ok prints=blocked
attempt(asyncio.run, asyncio.create_subprocess_shell("id"))

#: loop_waits_for_ever -> timeout time=0.3
async def wait():
    await asyncio.get_running_loop().create_future()
asyncio.run(wait())

#: loop_that_never_rests -> timeout time=0.3
async def spin():
    while True:
        await asyncio.sleep(0)
asyncio.run(spin())

#: loop_with_a_million_tasks -> timeout|memory time=2 memory=50
async def many():
    await asyncio.gather(*[asyncio.sleep(60) for each in range(1000000)])
asyncio.run(many())

#: loop_in_a_function -> ok result=[1,2]
async def run():
    return await asyncio.gather(asyncio.sleep(0.01, 1), asyncio.sleep(0, 2))

#: loop_in_a_function_that_is_left -> ok|exception result=1
async def run():
    asyncio.get_running_loop().create_task(asyncio.sleep(60))
    return 1

#: network_of_the_library -> ok prints=blocked
import urllib.request
attempt(urllib.request.urlopen, "http://127.0.0.1:8080/health", timeout=1)

#: network_by_http -> ok prints=blocked
import http.client
attempt(http.client.HTTPConnection("127.0.0.1", 8080, timeout=1).request, "GET", "/health")

#: network_by_local_files -> ok prints=blocked
import urllib.request
attempt(urllib.request.urlopen, "file:///etc/passwd")

#: sleep_is_interrupted_with_changes_kept -> timeout time=0.5 changed=/a,/b
open("a", "w").write("before")
file = open("b", "w")
file.write("flushed")
file.flush()
time.sleep(60)

#: loop_is_interrupted_with_changes_kept -> timeout time=2 changed=/a deleted=/old
open("a", "w").write("before")
os.remove("old")
while True: pass
#> files/old
text

#: interrupted_in_the_middle_of_a_write -> timeout time=1 fault=* changed=*
number = 0
while True:
    number += 1
    with open(str(number % 50), "wb") as file:
        file.write(bytes(1 << 17))
