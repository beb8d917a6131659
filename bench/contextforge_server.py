"""ContextForge under uvicorn, which is what its own command `mcpgateway` starts: contextforge_server.py WORKERS. Its settings
are in the environment. The server prints its URL as JSON before it listens, and ends with its stdin."""

import json
import multiprocessing
import os
import socket
import sys
import threading


def end_with_the_benchmark() -> None:
    """The first process ends with its stdin, and the worker processes end with the first one."""
    first = multiprocessing.parent_process()
    if first is None:
        os.read(0, 1)
    else:
        first.join()
    os._exit(0)


# Every worker process imports this module too.
threading.Thread(target=end_with_the_benchmark, daemon=True).start()


def main(workers: int) -> None:
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    print(json.dumps({"url": f"http://127.0.0.1:{listener.getsockname()[1]}"}), flush=True)
    # What the program prints is no answer to the benchmark.
    os.dup2(2, 1)
    # A worker takes longer than the usual 5 seconds to import the program.
    config = uvicorn.Config(
        "mcpgateway.main:app", workers=workers, log_level="error", access_log=False, timeout_worker_healthcheck=120
    )
    if workers == 1:
        uvicorn.Server(config).run(sockets=[listener])
    else:
        Multiprocess(config, sockets=[listener]).run()


if __name__ == "__main__":
    main(int(sys.argv[1]))
