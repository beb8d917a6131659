"""The warm interpreter that every call is forked from.

The zygote never sees the code of a call: it takes descriptors, forks, and reports the starts and ends of children. The
module `child` is the room that it serves: child.py, or file_child.py under the same name.
src/zygote/wire.rs describes its messages. Any other message ends the zygote, and all its children with it.
"""

import _signal
import _socket
import gc
import os
import select
import sys

import child
import lockdown

CONTROL = 0  # The socket to the supervisor.
CALL_BYTES = 21
MOST_DESCRIPTORS = 1 << 16
WORD = 4


def main():
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # In the zygote and its children: the supervisor handles it.
    os.closerange(3, MOST_DESCRIPTORS)  # The process that started the server may have left some open.
    os.environ.clear()  # The zygote got an empty environment, but Python adds to it.
    control = _socket.socket(fileno=CONTROL)
    filters = [lockdown.program(control.recv(1 << 16)) for _ in range(child.FILTERS)]
    lockdown.die_with_parent()
    lockdown.hide()
    child.warm_up()
    gc.collect()
    gc.freeze()  # So that a child's collector does not write to, and thereby copy, shared memory.
    control.send(b"H" + sys.version.split()[0].encode())
    serve(control, filters)


def serve(control, filters):
    running = {}
    events = select.poll()
    events.register(control, select.POLLIN)
    while True:
        for descriptor, _ in events.poll():
            if descriptor != CONTROL:
                events.unregister(descriptor)
                bury(control, descriptor, *running.pop(descriptor))
                continue
            call, limits, descriptors = receive(control)
            pid, pidfd = born(limits, descriptors, filters)
            for each in descriptors:
                os.close(each)
            if pid is None:
                control.send(b"N" + call)
                continue
            rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, pidfd.to_bytes(WORD, sys.byteorder))
            control.sendmsg([b"S" + call], [rights])
            running[pidfd] = call, pid
            events.register(pidfd, select.POLLIN)


def receive(control):
    """Reads the next call: its id, its limits and its descriptors."""
    message, ancillary, flags, _ = control.recvmsg(CALL_BYTES + 1, _socket.CMSG_SPACE(child.DESCRIPTORS * WORD))
    if not message:
        os._exit(0)  # The supervisor is gone, or dismisses the zygote.
    rights = b"".join(data for level, kind, data in ancillary if (level, kind) == (_socket.SOL_SOCKET, _socket.SCM_RIGHTS))
    descriptors = [int.from_bytes(rights[at : at + WORD], sys.byteorder) for at in range(0, len(rights), WORD)]
    known = len(message) == CALL_BYTES and message[:1] == b"R" and len(descriptors) == child.DESCRIPTORS
    if not known or flags & (_socket.MSG_CTRUNC | _socket.MSG_TRUNC):
        os._exit(65)
    return message[1:9], (int.from_bytes(message[9:17], "little"), int.from_bytes(message[17:21], "little")), descriptors


def born(limits, descriptors, filters):
    """Returns a child's process id and pidfd, or none if the system has no process to give; other children go on."""
    try:
        pid = fork(limits, descriptors, filters)
    except OSError:
        return None, None
    try:
        return pid, os.pidfd_open(pid)
    except OSError:
        os.kill(pid, _signal.SIGKILL)
        os.waitpid(pid, 0)
        return None, None


def fork(limits, descriptors, filters):
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        child.run(parent, limits, descriptors, filters)
    return pid


def bury(control, pidfd, call, pid):
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(pidfd)
    control.send(b"X" + call + status.to_bytes(WORD, "little", signed=True))
