"""The Kalman filter beside a smoother of the field on the same samples: GTSAM (PyPI, not needed by anything else here).

    python3 -m venv v && v/bin/pip install gtsam "numpy<2"
    v/bin/python tests/estimator_smoother.py --volery build/volery --seeds 4

Flies hovers and eights on parts as sold, takes IMU, fixes and field off the logs, and solves for the whole flight at once: preintegrated IMU
factors (C. Forster et al., IEEE Trans. Robotics 33, 2017) between the moments of fixes, their wander, hard iron, scale and alignment of the
magnetometer. A smoother knows the future: it is at least as good as any filter. The barometer is left out, which says nothing of attitude.
GTSAM's IMU factors know no scale and alignment, so those of the accelerometer are part of its bias here.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import tempfile
from pathlib import Path

import gtsam
import numpy as np
from gtsam.symbol_shorthand import B, V, W, X

STANDARD_GRAVITY, DELAY, FIX = 9.80665, 0.08, 0.04  # [m/s^2], [s] of a fix, [s] between two
FIELD = np.array([0.0, 20.0, -45.0])  # [uT]
JUDGED, END = 20.0, 32.0  # [s]
IRON, SOFT = gtsam.symbol("m", 0), gtsam.symbol("d", 0)
DEGREE = np.pi / 180
# bmi088, neo-m9n, hmc5883l after a calibration on the ground (src/sensors/).
ACCEL_NOISE, GYRO_NOISE = 175e-6 * STANDARD_GRAVITY, 0.014 * DEGREE
ACCEL_BIAS, GYRO_BIAS = np.hypot(0.003, 0.005) * STANDARD_GRAVITY, np.hypot(0.02 * DEGREE, 1e-4)
ACCEL_WALK, GYRO_WALK = 1e-4, 1e-5
WANDER, WANDER_TIME = np.array([2.0, 2.0, 3.0]) * 0.8493, 60.0
FIX_NOISE, SPEED_NOISE = np.array([0.2, 0.2, 0.3]) * 0.8493, 0.05
FIELD_NOISE, FIELD_BIAS, FIELD_SCALE = np.hypot(0.2, 0.092 / np.sqrt(12)), 0.5, np.array([[5, 2, 2], [2, 5, 2], [2, 2, 5]]) * 1e-3
TASKS = {"hover": "", "eight": ", path: {kind: figure_eight, centre: [0, 0, 20], radius: 8 m, speed: 5 m/s, ramp: 3 s, laps: 20, start: 6 s}"}


def fly(volery: str, task: str, seed: int) -> dict[str, np.ndarray]:
    text = (f"volery: 1\nduration: {END} s\nseed: {seed}\nworld: {{magnetic_field: [0, 20 uT, -45 uT]}}\nlog: {{every: 1}}\n"
            "drones:\n  - name: alpha\n    vehicle: x500\n    start: {position: [0, 0, 20]}\n"
            "    sensors: {imu: bmi088, mocap: {period: none}, baro: bmp388, mag: hmc5883l, gps: neo-m9n, calibration: ground}\n"
            f"    estimator: {{kind: ekf}}\n    controller: {{kind: hold{TASKS[task]}}}\n")
    fields = "imu.accel,imu.gyro,gps.position,gps.velocity,mag.field,body.attitude,estimate.position,estimate.velocity,estimate.attitude"
    with tempfile.TemporaryDirectory() as folder:
        scenario, log, table = (str(Path(folder) / n) for n in ("s.yaml", "s.mcap", "s.csv"))
        Path(scenario).write_text(text, encoding="utf-8")
        subprocess.run([volery, "run", scenario, "-o", log, "--quiet"], check=True)
        subprocess.run([volery, "export", log, "--csv", "-o", table, "--fields", fields], check=True)
        with open(table, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
    values = np.array([[float(x) if x else np.nan for x in row] for row in rows[1:]])
    columns: dict[str, list[int]] = {}
    for i, name in enumerate(rows[0]):
        columns.setdefault(name.rsplit(".", 1)[0] if "." in name else name, []).append(i)
    return {name: values[:, at] for name, at in columns.items()}


def fields_of(run: dict[str, np.ndarray]) -> dict[int, tuple[np.ndarray, int]]:
    """By number of the fix: the mean of the samples around it, turned there by the gyroscope, and how many they are."""
    time, field, gyro = run["time"][:, 0], 1e6 * run["mag.field"], run["imu.gyro"]
    found: dict[int, list[np.ndarray]] = {}
    for n in range(1, len(time)):
        if np.any(np.isnan(field[n])) or np.array_equal(field[n], field[n - 1]):
            continue
        node = round(time[n] / FIX)
        turn = gtsam.Rot3.Expmap((node * FIX - time[n]) * gyro[n]).matrix()
        found.setdefault(node, []).append(turn.T @ field[n])
    return {node: (np.mean(some, axis=0), len(some)) for node, some in found.items()}


def fix_factor(key: int, wander: int, fix: np.ndarray) -> gtsam.CustomFactor:
    def error(_: gtsam.CustomFactor, values: gtsam.Values, jacobians: list[np.ndarray] | None) -> np.ndarray:
        pose, w = values.atPose3(key), values.atVector(wander)
        if jacobians is not None:
            jacobians[0] = np.hstack([np.zeros((3, 3)), pose.rotation().matrix()])
            jacobians[1] = np.eye(3)
        return pose.translation() + w - fix
    return gtsam.CustomFactor(gtsam.noiseModel.Diagonal.Sigmas(FIX_NOISE), [key, wander], error)


def field_factor(key: int, seen: np.ndarray, count: int) -> gtsam.CustomFactor:
    def error(_: gtsam.CustomFactor, values: gtsam.Values, jacobians: list[np.ndarray] | None) -> np.ndarray:
        u = values.atPose3(key).rotation().matrix().T @ FIELD
        soft = np.eye(3) + values.atVector(SOFT).reshape(3, 3)
        if jacobians is not None:
            cross = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
            jacobians[0] = np.hstack([soft @ cross, np.zeros((3, 3))])
            jacobians[1] = np.eye(3)
            jacobians[2] = np.kron(np.eye(3), u)
        return soft @ u + values.atVector(IRON) - seen
    return gtsam.CustomFactor(gtsam.noiseModel.Isotropic.Sigma(3, FIELD_NOISE / np.sqrt(count)), [key, IRON, SOFT], error)


def wander_factor(first: int, second: int) -> gtsam.CustomFactor:
    keep = np.exp(-FIX / WANDER_TIME)

    def error(_: gtsam.CustomFactor, values: gtsam.Values, jacobians: list[np.ndarray] | None) -> np.ndarray:
        if jacobians is not None:
            jacobians[0], jacobians[1] = -keep * np.eye(3), np.eye(3)
        return values.atVector(second) - keep * values.atVector(first)
    return gtsam.CustomFactor(gtsam.noiseModel.Diagonal.Sigmas(WANDER * np.sqrt(1 - keep**2)), [first, second], error)


def imu_parameters() -> gtsam.PreintegrationCombinedParams:
    p = gtsam.PreintegrationCombinedParams.MakeSharedU(STANDARD_GRAVITY)
    p.setAccelerometerCovariance(ACCEL_NOISE**2 * np.eye(3))
    p.setGyroscopeCovariance(GYRO_NOISE**2 * np.eye(3))
    p.setIntegrationCovariance(1e-8 * np.eye(3))
    p.setBiasAccCovariance(ACCEL_WALK**2 * np.eye(3))
    p.setBiasOmegaCovariance(GYRO_WALK**2 * np.eye(3))
    return p


def smooth(run: dict[str, np.ndarray]) -> gtsam.Values:
    """The most likely flight, at the moments of fixes."""
    time, zero = run["time"][:, 0], gtsam.imuBias.ConstantBias()
    diagonal = gtsam.noiseModel.Diagonal.Sigmas
    graph, values, steps = gtsam.NonlinearFactorGraph(), gtsam.Values(), round(FIX * 1000)
    fields = fields_of(run)

    def pose(n: int) -> gtsam.Pose3:
        return gtsam.Pose3(gtsam.Rot3.Quaternion(*run["estimate.attitude"][n]), run["estimate.position"][n])

    graph.add(gtsam.PriorFactorPose3(X(0), pose(0), diagonal(np.array([0.02] * 3 + [0.1] * 3))))
    graph.add(gtsam.PriorFactorVector(V(0), run["estimate.velocity"][0], diagonal(np.full(3, 0.1))))
    graph.add(gtsam.PriorFactorConstantBias(B(0), zero, diagonal(np.array([ACCEL_BIAS] * 3 + [GYRO_BIAS] * 3))))
    graph.add(gtsam.PriorFactorVector(W(0), np.zeros(3), diagonal(WANDER)))
    graph.add(gtsam.PriorFactorVector(IRON, np.zeros(3), diagonal(np.full(3, FIELD_BIAS))))
    graph.add(gtsam.PriorFactorVector(SOFT, np.zeros(9), diagonal(FIELD_SCALE.ravel())))
    values.insert(IRON, np.zeros(3))
    values.insert(SOFT, np.zeros(9))
    parameters, late = imu_parameters(), round(DELAY * 1000)
    nodes = (len(time) - 1) // steps
    for k in range(nodes + 1):
        n = k * steps
        values.insert(X(k), pose(n))
        values.insert(V(k), run["estimate.velocity"][n])
        values.insert(B(k), zero)
        fix = run["gps.position"][min(n + late, len(time) - 1)]
        values.insert(W(k), np.zeros(3) if k == 0 else fix - pose(n).translation())
        if k in fields:
            graph.add(field_factor(X(k), *fields[k]))
        if k > 0 and n + late < len(time):
            graph.add(fix_factor(X(k), W(k), run["gps.position"][n + late]))
            graph.add(gtsam.PriorFactorVector(V(k), run["gps.velocity"][n + late], diagonal(np.full(3, SPEED_NOISE))))
        if k == nodes:
            break
        imu = gtsam.PreintegratedCombinedMeasurements(parameters, zero)
        for i in range(n + 1, n + steps + 1):
            imu.integrateMeasurement(run["imu.accel"][i], run["imu.gyro"][i], 0.001)
        graph.add(gtsam.CombinedImuFactor(X(k), V(k), X(k + 1), V(k + 1), B(k), B(k + 1), imu))
        graph.add(wander_factor(W(k), W(k + 1)))
    parameters = gtsam.GaussNewtonParams()  # from the filter's estimate, which is near
    parameters.setMaxIterations(5)
    parameters.setRelativeErrorTol(1e-6)
    parameters.setLinearSolverType("MULTIFRONTAL_QR")  # figures differ by many powers of ten
    return gtsam.GaussNewtonOptimizer(graph, values, parameters).optimize()


def squares(true: np.ndarray, found: gtsam.Rot3) -> tuple[float, float]:
    """Of tilt and yaw error [rad^2]."""
    turn = gtsam.Rot3.Logmap(gtsam.Rot3(gtsam.Rot3.Quaternion(*true).matrix() @ found.matrix().T))
    return float(turn[0] ** 2 + turn[1] ** 2), float(turn[2] ** 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--volery", default="build/volery")
    parser.add_argument("--seeds", type=int, default=4)
    given = parser.parse_args()
    for task in TASKS:
        by_filter, by_smoother, at_end = [], [], []
        for seed in range(1, given.seeds + 1):
            run = fly(given.volery, task, seed)
            result, steps = smooth(run), round(FIX * 1000)
            nodes = (len(run["time"]) - 1) // steps
            for k in range(round(JUDGED / FIX), nodes + 1):
                true = run["body.attitude"][k * steps]
                by_filter.append(squares(true, gtsam.Rot3.Quaternion(*run["estimate.attitude"][k * steps])))
                by_smoother.append(squares(true, result.atPose3(X(k)).rotation()))
            at_end.append(by_filter[-1] + by_smoother[-1])
        f, s, e = (np.sqrt(np.mean(x, axis=0)) / DEGREE for x in (by_filter, by_smoother, at_end))
        print(f"{task}: tilt {f[0]:.3f} deg by the filter, {s[0]:.3f} by the smoother; yaw {f[1]:.3f} and {s[1]:.3f}; at the end, where"
              f" both know the same, tilt {e[0]:.3f} and {e[2]:.3f}, yaw {e[1]:.3f} and {e[3]:.3f}", flush=True)


if __name__ == "__main__":
    main()
