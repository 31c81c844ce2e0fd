# terminal.py VOLERY SCENARIO LOG HOW - fly SCENARIO from the keyboard of a terminal made for it, and end by HOW: end,
# interrupt, terminate or kill. Says whether the terminal was put right, and the exit status.
import os, pty, signal, subprocess, sys, termios, time

volery, scenario, log, how = sys.argv[1:]
master, slave = pty.openpty()
before = termios.tcgetattr(slave)


def own_terminal():
    os.setsid()
    import fcntl
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


flight = subprocess.Popen([volery, "run", scenario, "--realtime", "-q", "-o", log], stdin=slave, stdout=subprocess.DEVNULL,
                          stderr=sys.stderr, preexec_fn=own_terminal)


def wait_for(wanted, seconds=120):
    end = time.time() + seconds
    while time.time() < end:
        if wanted():
            return True
        time.sleep(0.01)
    return False


def taken():
    return not termios.tcgetattr(slave)[3] & (termios.ICANON | termios.ECHO)


if not wait_for(taken):
    sys.exit("the terminal is not taken")
time.sleep(0.3)
os.write(master, b"www\033[C")  # three steps forward, and to the right
if how == "interrupt":
    time.sleep(0.5)
    os.write(master, b"\003")
elif how != "end":
    time.sleep(0.5)
    flight.send_signal({"terminate": signal.SIGTERM, "kill": signal.SIGKILL}[how])
try:
    status = flight.wait(300)
except subprocess.TimeoutExpired:
    flight.kill()
    sys.exit("it does not end")
right = wait_for(lambda: termios.tcgetattr(slave)[:4] == before[:4])
print("status", status, "terminal", "right" if right else "wrong")
