#!/usr/bin/env python3
"""ulog_pyulog.py TEST_ULOG - what the ULog reader reads is what pyulog (PX4's own reader, from PyPI) reads.

Needs pyulog and NumPy (pip install pyulog); without them there is one line and exit status 0.
"""
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from pyulog import ULog
except ImportError:
    print("pyulog is not installed: pip install pyulog")
    sys.exit(0)


def main():
    program = sys.argv[1]
    with tempfile.NamedTemporaryFile(suffix=".ulg") as file:
        subprocess.run([program, "write", file.name], check=True)
        text = subprocess.run([program, "print", file.name], check=True, capture_output=True, text=True).stdout
        ours = np.array([[float(x) for x in line.split(",")] for line in text.split()])
        topics = {d.name: d.data for d in ULog(file.name).data_list}
    imu, motors = topics["sensor_combined"], topics["actuator_motors"]
    assert len(ours) == len(imu["timestamp"])
    assert np.allclose(ours[:, 0], imu["timestamp"] * 1e-6, atol=1e-6)
    signs = [1, -1, -1]
    for a in range(3):
        assert np.allclose(ours[:, 1 + a], signs[a] * imu[f"gyro_rad[{a}]"], rtol=1e-6)
        assert np.allclose(ours[:, 4 + a], signs[a] * imu[f"accelerometer_m_s2[{a}]"], rtol=1e-6)
    latest = np.searchsorted(motors["timestamp"], imu["timestamp"], side="right") - 1
    for k in range(4):
        assert np.allclose(ours[:, 7 + k], motors[f"control[{k}]"][latest], rtol=1e-6)
    print(f"{len(ours)} rows as pyulog reads them")


if __name__ == "__main__":
    main()
