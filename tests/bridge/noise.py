"""noise.py SECONDS PORT... - a stranger who sends noise to UDP ports of this computer, and to TCP ports written `tcp:PORT`.

Datagrams have the sizes of packets by turns with others; a connection that is closed is opened anew.
"""
import random
import signal
import socket
import sys
import time

SIZES = 16, 40, 72, 144  # [bytes] of packets: motors of Betaflight, channels or servos, 32 servos, a state


def report(sent):
    print("noise:", ", ".join(f"{count} to {name}" for name, count in sent.items()), flush=True)
    return 0


def main():
    chance, sent = random.Random(1), {}
    end = time.monotonic() + float(sys.argv[1])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(report(sent)))
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    streams = {}
    while time.monotonic() < end:
        for name in sys.argv[2:]:
            size = chance.choice(SIZES) if chance.random() < 0.7 else chance.randrange(1, 1400)
            noise = chance.randbytes(size)
            address = ("127.0.0.1", int(name.rpartition(":")[2]))
            try:
                if not name.startswith("tcp:"):
                    datagrams.sendto(noise, address)
                elif name not in streams:
                    streams[name] = socket.create_connection(address, timeout=1)
                else:
                    streams[name].sendall(noise)
                sent[name] = sent.get(name, 0) + 1
            except OSError:
                streams.pop(name, None)
        time.sleep(0.002)
    report(sent)


main()
