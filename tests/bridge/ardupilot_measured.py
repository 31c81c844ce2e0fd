"""ardupilot_measured.py LOG.BIN SAMPLES.csv CHANNELS - what ArduPilot measured of a flight's parts, beside the samples it was sent.

LOG.BIN is its DataFlash log (LOG_BACKEND_TYPE 1, LOG_DISARMED 1), SAMPLES.csv what `volery export --csv` gives of range, airspeed
and power, CHANNELS the sticks of the scenario in order, like 1500,1500,1000,1500/1500,1500,1500,1500. ArduPilot's clock is ahead by what it took to boot, which the
voltage tells. A measurement is one of the samples of the last 0.11 s, or it differs: the largest difference of each is printed, and above its bound
the exit status is 1.
"""
import bisect
import csv
import sys

from pymavlink import mavutil

RATIO = 1.99  # ARSPD_RATIO, by which pressure [Pa] becomes the square of a speed
FAR = 16.0  # [m] no return, of a part that sees 8 m
AGE = 0.11  # [s] of a measurement when it is logged, at 10 Hz
BEGIN = 1.0  # [s] of the flight, from when on the parts have samples


def read(path):
    log, out = mavutil.mavlink_connection(path), {}
    while True:
        m = log.recv_match(type=["RFND", "ARSP", "BAT", "RCIN"])
        if m is None:
            return out
        out.setdefault(m.get_type(), []).append(m)


def differences(measured, times, samples, shift):
    out = []
    for time, value in measured:
        time -= shift
        if not BEGIN < time < times[-1]:
            continue
        last = bisect.bisect_right(times, time + 1e-3)
        first = bisect.bisect_left(times, time - AGE)
        out.append(min(abs(value - s) for s in samples[first:last]))
    return out


def main():
    log = read(sys.argv[1])
    rows = [row for row in csv.DictReader(open(sys.argv[2])) if row["power.voltage"]]
    times = [float(row["time"]) for row in rows]

    def samples(name):
        return [float(row[name]) for row in rows]

    def measured(kind, value):
        return [(1e-6 * m.TimeUS, value(m)) for m in log[kind]]

    voltages = measured("BAT", lambda m: m.Volt)
    shift = min((sum(differences(voltages[::5], times, samples("power.voltage"), k)), k) for k in (0.005 * i for i in range(2000)))[1]
    print(f"ArduPilot's clock is ahead by {shift:.2f} s")
    bad = 0
    for name, kind, value, wanted, bound in (
        ("distance [m]", "RFND", lambda m: m.Dist, [d or FAR for d in samples("range.distance")], 1e-5),
        ("airspeed [m/s]", "ARSP", lambda m: (RATIO * max(0.0, m.RawPress)) ** 0.5, [abs(v) for v in samples("airspeed.speed")], 1e-4),
        ("voltage [V]", "BAT", lambda m: m.Volt, samples("power.voltage"), 1e-4),
        ("current [A]", "BAT", lambda m: m.Curr, samples("power.current"), 1e-4),
    ):
        values = measured(kind, value)
        differing = differences(values, times, wanted, shift)
        flown = [v for t, v in values if t > shift + BEGIN]
        print(f"{name}: {len(differing)} from {min(flown):.3f} to {max(flown):.3f}, differ by {max(differing):.1e} at most")
        bad += max(differing) > bound
    channels = []
    for m in log["RCIN"]:
        row = [getattr(m, f"C{i + 1}") for i in range(8)]
        if m.TimeUS > 1e6 * (shift + BEGIN) and (not channels or channels[-1] != row):
            channels.append(row)
    wanted = [[int(c) for c in row.split(",")] for row in sys.argv[3].split("/")]
    print(f"channels: {len(log['RCIN'])}, as sent: {channels == wanted}")
    sys.exit(bad > 0 or channels != wanted)


main()
