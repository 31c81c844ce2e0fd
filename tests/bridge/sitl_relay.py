"""sitl_relay.py HOW COUNT PROGRAM [ARG...] - stands between Volery and a program under `volery sitl`, and turns packets into noise.

It passes on what either says. After COUNT packets of motor commands, HOW: `motors` of the program's motor commands, `uart` of its
MSP, `state` and `rc` of what it gets on these two ports: of the right size and of others, by turns.
"""
import os
import random
import select
import socket
import struct
import subprocess
import sys

CAP = 65536  # [bytes]
HEAD = 16  # kind, port, time
DATAGRAM, STREAM = 2, 3
PORTS = {"motors": (DATAGRAM, 9002), "uart": (STREAM, 5761), "state": (DATAGRAM, 9003), "rc": (DATAGRAM, 9004)}


def noise(chance, message, by_turns):
    size = len(message) - HEAD
    if by_turns and chance.random() < 0.5:
        size = chance.randrange(1, 600)
    return message[:HEAD] + chance.randbytes(size)


def main():
    how, count = sys.argv[1], int(sys.argv[2])
    volery = socket.socket(fileno=int(os.environ["VOLERY_SITL"]))
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    os.set_inheritable(theirs.fileno(), True)
    environment = dict(os.environ, VOLERY_SITL=str(theirs.fileno()))
    program = subprocess.Popen(sys.argv[3:], env=environment, pass_fds=[theirs.fileno()])
    theirs.close()
    chance = random.Random(1)
    packets = 0
    while True:
        for wire in select.select([volery, ours], [], [])[0]:
            message = wire.recv(CAP)
            if not message:  # one of them has gone
                ours.close()
                sys.exit(program.wait())
            where = struct.unpack_from("<II", message)
            packets += where == PORTS["motors"]
            if packets == count and where == PORTS["motors"]:
                print(f"relay: {how}", file=sys.stderr, flush=True)
            from_volery = wire is volery
            if packets >= count and where == PORTS[how] and from_volery == (how in ("state", "rc")):
                message = noise(chance, message, how != "uart")
            (ours if from_volery else volery).send(message)


main()
