"""relay.py tcp|udp PORT TO HOW COUNT - stands between a firmware, which knows PORT, and Volery, which has port TO, and makes trouble.

It passes on what either says. After COUNT packets of the firmware, HOW: `garbage` passes on noise in place of what it says,
`lies` noise in place of what Volery says, `again` leaves Volery and connects anew (over UDP: goes on from another port).
"""
import os
import select
import socket
import sys

CHUNK = 65536  # [bytes]


def connect(kind, port):
    wire = socket.socket(socket.AF_INET, kind)
    wire.connect(("127.0.0.1", port))
    if kind == socket.SOCK_STREAM:
        wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return wire


def receive(firmware, kind):
    if kind == socket.SOCK_STREAM:
        return firmware.recv(CHUNK)
    data, caller = firmware.recvfrom(CHUNK)
    firmware.connect(caller)
    return data


def relay(firmware, kind, to, how, count):
    volery = connect(kind, to)
    packets = 0
    while True:
        ready, _, _ = select.select([firmware, volery], [], [])
        if volery in ready:
            data = volery.recv(CHUNK)
            if not data:
                return
            firmware.send(os.urandom(len(data)) if how == "lies" and packets >= count else data)
        if firmware in ready:
            data = receive(firmware, kind)
            if not data:
                return
            packets += 1
            if packets == count:
                print(f"relay: {how}", flush=True)
            if packets == count and how == "again":
                volery.close()
                volery = connect(kind, to)
            if packets >= count and how == "garbage":
                data = os.urandom(8192 if kind == socket.SOCK_STREAM else len(data))
            volery.send(data)


def main():
    kind = socket.SOCK_STREAM if sys.argv[1] == "tcp" else socket.SOCK_DGRAM
    port, to, how, count = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], int(sys.argv[5])
    firmware = socket.socket(socket.AF_INET, kind)
    firmware.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    firmware.bind(("127.0.0.1", port))
    if kind == socket.SOCK_STREAM:
        firmware.listen()
        firmware, _ = firmware.accept()
        firmware.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        relay(firmware, kind, to, how, count)
    except (ConnectionError, OSError):
        pass  # one of them has gone


main()
