"""ardupilot_measured.py LOG.BIN SAMPLES.csv - what ArduPilot measured of a flight's parts, beside the samples it was sent.

LOG.BIN is the DataFlash log of ArduPilot (LOG_BACKEND_TYPE 1, LOG_DISARMED 1), SAMPLES.csv what `volery export --csv` gives of
range, airspeed and power. ArduPilot's clock is ahead by its booting: the shift is the one at which the range fits best.
"""
import bisect
import csv
import sys

from pymavlink import mavutil

RATIO = 1.99  # of ARSPD_RATIO: dynamic pressure [Pa] times it is the square of the speed


def column(rows, name):
    return [float(row[name]) if row[name] != "" else None for row in rows]


class Held:
    """A quantity that keeps its value until the next sample."""

    def __init__(self, times, values):
        self.times, self.values = times, values

    def at(self, time):
        i = bisect.bisect_right(self.times, time) - 1
        return self.values[i] if i >= 0 else None


def messages(path):
    log, out = mavutil.mavlink_connection(path), {}
    while True:
        m = log.recv_match(type=["RFND", "ARSP", "BAT", "RCIN", "PARM", "MODE", "ARM"])
        if m is None:
            return out
        out.setdefault(m.get_type(), []).append(m)


def differences(measured, sample, shift, window):
    """Of each measurement from the samples of the steps around it the smallest: both clocks are in milliseconds."""
    out = []
    for time, value in measured:
        near = [sample.at(time - shift + k * 0.001) for k in window]
        near = [abs(value - s) for s in near if s is not None]
        if near:
            out.append(min(near))
    return out


def main():
    log = messages(sys.argv[1])
    rows = list(csv.DictReader(open(sys.argv[2])))
    times = [float(row["time"]) for row in rows]
    samples = {name: Held(times, column(rows, name)) for name in rows[0] if name != "time"}
    print("messages:", {k: len(v) for k, v in log.items()})
    dist = [(m.TimeUS * 1e-6, m.Dist) for m in log["RFND"]]
    dist = [d for d in dist if 0.3 < d[1] < 7.5]
    best = None
    for step in range(-200, 40000, 5):  # booting takes seconds of its clock
        d = [abs(v - s) for v, s in ((v, samples["range.distance"].at(t - step * 1e-3)) for t, v in dist[::7]) if s is not None]
        if len(d) > len(dist) / 14:
            mean = sum(d) / len(d)
            if best is None or mean < best[0]:
                best = (mean, step * 1e-3)
    shift = best[1]
    print(f"shift {shift:.3f} s")
    for name, measured, sample in (
        ("range [m]", [(m.TimeUS * 1e-6, m.Dist) for m in log["RFND"]], "range.distance"),
        ("pressure [Pa]", [(m.TimeUS * 1e-6, m.RawPress) for m in log["ARSP"]], "airspeed.pressure"),
        ("speed of it [m/s]", [(m.TimeUS * 1e-6, (m.RawPress * RATIO) ** 0.5 if m.RawPress > 0 else 0) for m in log["ARSP"]], "airspeed.speed"),
        ("voltage [V]", [(m.TimeUS * 1e-6, m.Volt) for m in log["BAT"] if m.Inst == 0], "power.voltage"),
        ("current [A]", [(m.TimeUS * 1e-6, m.Curr) for m in log["BAT"] if m.Inst == 0], "power.current"),
    ):
        values = [v for _, v in measured]
        d = sorted(differences(measured, samples[sample], shift, range(-60, 61)))
        exact = sorted(differences(measured, samples[sample], shift, [0]))
        print(f"{name}: {len(values)} from {min(values):.3f} to {max(values):.3f}; differs by {d[len(d)//2]:.4g} in the median, {d[-1]:.4g} at most within 60 ms; "
              f"{exact[len(exact)//2]:.4g}, {exact[-1]:.4g} at the shift")
    rc = log["RCIN"]
    seen = sorted({(m.C1, m.C2, m.C3, m.C4, m.C5, m.C6, m.C7, m.C8) for m in rc})
    print("rc:", seen)


main()
