# The network, and every other kind of socket.
import json, re, typing
sys = typing.sys
socket, ctypes = sys.modules["_socket"], sys.modules["ctypes"]
libc = ctypes.CDLL(None, use_errno=True)

def attempt(action, *arguments):
    try:
        print("ESCAPED", action(*arguments))
    except (OSError, LookupError):
        print("blocked")

def attempt_socket(family, kind, protocol=0):
    got = libc.syscall(SYS_socket, family, kind, protocol)
    print("ESCAPED" if got != -1 else "blocked")

#: tcp -> ok prints=blocked
attempt(socket.socket, socket.AF_INET, socket.SOCK_STREAM)

#: udp -> ok prints=blocked
attempt(socket.socket, socket.AF_INET, socket.SOCK_DGRAM)

#: tcp6 -> ok prints=blocked
attempt(socket.socket, socket.AF_INET6, socket.SOCK_STREAM)

#: unix -> ok prints=blocked
attempt(socket.socket, socket.AF_UNIX, socket.SOCK_STREAM)

#: unix_pair -> ok prints=blocked
attempt(socket.socketpair)

#: tcp_raw_call -> ok prints=blocked
attempt_socket(2, 1)

#: raw_packets -> ok prints=blocked
attempt_socket(17, 3, 0x300)

#: raw_ip -> ok prints=blocked
attempt_socket(2, 3, 1)

#: netlink -> ok prints=blocked
attempt_socket(16, 3)

#: vsock -> ok prints=blocked
attempt_socket(40, 1)

#: crypto -> ok prints=blocked
attempt_socket(38, 5)

#: bluetooth -> ok prints=blocked
attempt_socket(31, 3)

#: can -> ok prints=blocked
attempt_socket(29, 3, 1)

#: xdp -> ok prints=blocked
attempt_socket(44, 3)

#: smc -> ok prints=blocked
attempt_socket(43, 1)

#: every_family -> ok prints=0
print(sum(libc.syscall(SYS_socket, family, kind, 0) != -1 for family in range(60) for kind in (1, 2, 3, 5)))

#: adopt_a_pipe_as_a_socket -> ok prints=blocked
adopted = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fileno=1)
attempt(adopted.connect, ("127.0.0.1", 8080))
adopted.detach()

#: connect_a_pipe -> ok prints=blocked
print("ESCAPED" if libc.syscall(SYS_connect, 1, bytes(16), 16) != -1 else "blocked")

#: resolve -> ok prints=blocked
attempt(socket.getaddrinfo, b"localhost", 80)

#: resolve_old -> ok prints=blocked
attempt(socket.gethostbyname, b"example.com")

#: host_name -> ok prints=blocked
attempt(socket.gethostname)

#: interfaces -> ok prints=blocked
attempt(socket.if_nameindex)
