"""An event loop for a process that has neither sockets nor threads.

asyncio's own loop begins with a pair of sockets, by which other threads and signals wake the loop. There are none here.
"""

import asyncio
import selectors
import warnings


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self):
        # Other selectors need system calls of their own.
        super().__init__(selectors.SelectSelector())

    def _make_self_pipe(self):
        self._ssock = self._csock = None

    def _close_self_pipe(self):
        pass

    def _write_to_self(self):
        pass


def install():
    """Makes asyncio.run and its relatives use this loop."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Policies are deprecated since Python 3.14, without a replacement for asyncio.run.

        class Policy(asyncio.DefaultEventLoopPolicy):
            _loop_factory = _Loop

        asyncio.set_event_loop_policy(Policy())


def run(awaitable):
    async def awaited():
        return await awaitable

    return asyncio.run(awaited())
