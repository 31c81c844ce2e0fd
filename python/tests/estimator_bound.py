"""How good an estimate of the attitude can be, and how good the Kalman filter is beside it.

The bound is the posterior Cramer-Rao bound (H. Van Trees, Detection, Estimation, and Modulation Theory, 1968; P. Tichavsky et al.,
IEEE Trans. Signal Processing 46, 1998): the covariance of the linearised errors along the true trajectory, from the figures of the
sensors as the resolved scenario has them. Nothing of it is Volery's: errors of attitude are in world axes, every error process of a sensor is a
state of its own (59 numbers in all), and fixes count at once, not a delay later.

    python estimator_bound.py [--seeds N] [--limit 1.3]

flies N seeds of each flight, prints root mean squares beside the bound, and fails where one is more than `limit` times the bound,
beyond what N seeds can tell.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
import volery
import yaml

STEP = 10  # world steps between two looks at the truth
STILL = 2.0  # [s] on the ground
JUDGED = (20.0, 40.0)  # [s]
PARTS = (("p", 3), ("v", 3), ("turn", 3), ("bg", 3), ("ba", 3), ("wg", 3), ("wa", 3), ("iron", 3), ("bb", 1), ("wb", 1), ("fix", 3),
         ("Dg", 9), ("Da", 9), ("Dm", 9))
AT: dict[str, slice] = {}
for _name, _count in PARTS:
    _first = max((s.stop for s in AT.values()), default=0)
    AT[_name] = slice(_first, _first + _count)
SIZE = AT["Dm"].stop
ALLAN = 0.6175  # a bias instability over the deviation of its Gauss-Markov process

EIGHT = "path: {kind: figure_eight, centre: [0, 0, 20], radius: 8 m, speed: 5 m/s, ramp: 3 s, laps: 20, start: 6 s}"
CLIMB = "setpoints: [{time: 2.5 s, position: [0, 0, 0]}, {time: 8 s, position: [0, 0, 20]}]"
FLIGHTS = (("hover from the air", "ground", "air", ""), ("hover from the air", "none", "air", ""),
           ("hover from the ground", "ground", "ground", CLIMB), ("hover from the ground", "none", "ground", CLIMB),
           ("eight from the air", "ground", "air", EIGHT), ("eight from the air", "none", "air", EIGHT))


def scenario(calibration: str, start: str, task: str) -> str:
    height, terrain = (0.1, "terrain: {kind: plane}\n") if start == "ground" else (20, "")
    return (f"volery: 1\nduration: {JUDGED[1]} s\nworld: {{magnetic_field: [0, 20 uT, -45 uT]}}\n{terrain}"
            f"drones:\n  - name: alpha\n    vehicle: x500\n    start: {{position: [0, 0, {height}]}}\n"
            "    sensors: {imu: bmi088, mocap: {period: none}, baro: bmp388, mag: hmc5883l, gps: neo-m9n, "
            f"calibration: {calibration}}}\n    estimator: {{kind: ekf, start: {start}}}\n"
            f"    controller: {{kind: hold{', ' + task if task else ''}}}\n")


def cross(v: np.ndarray) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0.0]])


def rotation(q: np.ndarray) -> np.ndarray:
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def rows_of(v: np.ndarray) -> np.ndarray:
    """D v as a matrix times the nine numbers of D, row by row."""
    return np.kron(np.eye(3), v)


def numbers_of(value: Any) -> Any:
    """With 1e-05 as a number, which YAML 1.1 reads as text."""
    if isinstance(value, dict):
        return {k: numbers_of(v) for k, v in value.items()}
    if isinstance(value, list):
        return [numbers_of(v) for v in value]
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def leave(sensor: dict[str, float], **most: float) -> None:
    for key, value in most.items():
        sensor[key] = min(sensor[key], value)


class Figures:
    """What the sensors are declared to be off by."""

    def __init__(self, text: str) -> None:
        world = numbers_of(yaml.safe_load(text))
        drone = world["drones"][0]
        kinds = drone["sensors"]
        self.imu, self.gps, self.mag, self.baro = (kinds[k] for k in ("imu", "gps", "mag", "baro"))
        if kinds["calibration"] == "ground":  # what it leaves (docs/sensors.md)
            leave(self.imu, accel_bias=0.003 * 9.80665, gyro_bias=np.radians(0.02), accel_scale=0.005, gyro_scale=0.005,
                  accel_misalignment=0.005, gyro_misalignment=0.005)
            leave(self.mag, bias=0.5e-6, scale=0.005, misalignment=0.005)
        self.field = np.array(world["world"]["magnetic_field"], float)
        self.gravity = np.array([0.0, 0.0, -9.80665])
        self.estimator = drone["estimator"]

    def prior(self, on_ground: bool) -> np.ndarray:
        imu, gps, mag, baro, e = self.imu, self.gps, self.mag, self.baro, self.estimator
        deviation = np.zeros(SIZE)
        deviation[AT["p"]] = 1e3 if on_ground else e["start_position"]
        deviation[AT["v"]] = 0.01 if on_ground else e["start_velocity"]
        deviation[AT["turn"]] = 1.0 if on_ground else e["start_attitude"]
        deviation[AT["bg"]], deviation[AT["ba"]] = imu["gyro_bias"], imu["accel_bias"]
        deviation[AT["wg"]], deviation[AT["wa"]] = imu["gyro_instability"] / ALLAN, imu["accel_instability"] / ALLAN
        deviation[AT["iron"]] = mag["bias"]
        deviation[AT["bb"]], deviation[AT["wb"]] = baro["bias"] / 12.0, baro["wander"] / 12.0  # 12 Pa a metre
        deviation[AT["fix"]] = gps["position_wander"], gps["position_wander"], gps["height_wander"]
        for part, sensor, of in (("Dg", imu, "gyro_"), ("Da", imu, "accel_"), ("Dm", mag, "")):
            square = np.full((3, 3), sensor[of + "misalignment"])
            np.fill_diagonal(square, sensor[of + "scale"])
            deviation[AT[part]] = square.ravel()
        return np.diag(deviation**2)

    def noise(self, h: float) -> np.ndarray:
        """What a step adds to the covariance."""
        imu, gps, baro = self.imu, self.gps, self.baro
        q = np.zeros(SIZE)
        q[AT["v"]] = imu["accel_noise"] ** 2 * h
        q[AT["turn"]] = imu["gyro_noise"] ** 2 * h
        q[AT["bg"]], q[AT["ba"]] = imu["gyro_drift"] ** 2 * h, imu["accel_drift"] ** 2 * h
        for part, size, time in (("wg", imu["gyro_instability"] / ALLAN, imu["instability_time"]),
                                 ("wa", imu["accel_instability"] / ALLAN, imu["instability_time"]),
                                 ("wb", baro["wander"] / 12.0, baro["wander_time"]),
                                 ("fix", np.array([gps["position_wander"]] * 2 + [gps["height_wander"]]), gps["wander_time"])):
            q[AT[part]] = np.square(size) * (1 - np.exp(-2 * h / time))
        return np.diag(q)


def fused(covariance: np.ndarray, h: np.ndarray, variance: np.ndarray) -> np.ndarray:
    ph = covariance @ h.T
    left = covariance - ph @ np.linalg.solve(h @ ph + np.diag(variance), ph.T)
    return 0.5 * (left + left.T)


def measured(**parts: np.ndarray) -> np.ndarray:
    h = np.zeros((next(iter(parts.values())).shape[0], SIZE))
    for part, matrix in parts.items():
        h[:, AT[part]] = matrix
    return h


def stand_still(figures: Figures, turn: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Means over the time on the ground."""
    imu, eye = figures.imu, np.eye(3)
    held = -turn.T @ figures.gravity
    covariance = fused(covariance, measured(bg=eye, wg=eye), np.full(3, imu["gyro_noise"] ** 2 / STILL))
    h = measured(ba=eye, wa=eye, Da=rows_of(held), turn=-turn.T @ cross(figures.gravity))
    covariance = fused(covariance, h, np.full(3, imu["accel_noise"] ** 2 / STILL))
    samples = STILL / figures.mag["period"]
    covariance = fused(covariance, field_seen(figures, turn), field_noise(figures) / samples)
    return fused(covariance, measured(p=eye, fix=eye), fix_noise(figures))


def field_seen(figures: Figures, turn: np.ndarray) -> np.ndarray:
    return measured(iron=np.eye(3), Dm=rows_of(turn.T @ figures.field), turn=turn.T @ cross(figures.field))


def field_noise(figures: Figures) -> np.ndarray:
    return np.full(3, figures.mag["noise"] ** 2 + figures.mag["step"] ** 2 / 12)


def fix_noise(figures: Figures) -> np.ndarray:
    return np.array([figures.gps["position_noise"]] * 2 + [figures.gps["height_noise"]]) ** 2


def transition(figures: Figures, turn: np.ndarray, force: np.ndarray, rate: np.ndarray, h: float) -> np.ndarray:
    """Of the errors over a step: true less estimated, the attitude turned in world axes."""
    a = np.zeros((SIZE, SIZE))
    a[AT["p"], AT["v"]] = np.eye(3)
    a[AT["v"], AT["turn"]] = -cross(turn @ force)
    for bias, wander, distortion, of, value in (("ba", "wa", "Da", "v", force), ("bg", "wg", "Dg", "turn", rate)):
        a[AT[of], AT[bias]] = a[AT[of], AT[wander]] = -turn
        a[AT[of], AT[distortion]] = -turn @ rows_of(value)
    f = np.eye(SIZE) + a * h + 0.5 * h * h * (a @ a)
    for part, time in (("wg", figures.imu["instability_time"]), ("wa", figures.imu["instability_time"]),
                       ("wb", figures.baro["wander_time"]), ("fix", figures.gps["wander_time"])):
        f[AT[part], AT[part]] *= np.exp(-h / time)
    return f


class Flight:
    """The truth and the estimate of one flight."""

    def __init__(self, text: str, seed: int) -> None:
        world = volery.World(text, seed=seed)
        self.h = STEP * world.scenario.step
        self.states = [world.state()]
        while world.time < JUDGED[1] - 1e-9:
            world.step(STEP)
            self.states.append(world.state())
        assert world.failure is None, world.failure

    def errors(self) -> np.ndarray:
        """Squares of tilt and yaw error [rad^2], in the time that is judged."""
        found = []
        for n, s in enumerate(self.states):
            if n * self.h < JUDGED[0]:
                continue
            turn = rotation(s.attitude) @ rotation(s.estimated_attitude).T
            axis = 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
            found.append((axis[0] ** 2 + axis[1] ** 2, axis[2] ** 2))
        return np.mean(found, axis=0)

    def bound(self, figures: Figures, on_ground: bool) -> np.ndarray:
        """Variances of tilt and yaw [rad^2] that no estimator can beat, on average in that time."""
        h, found, eye = self.h, [], np.eye(3)
        covariance, noise = figures.prior(on_ground), figures.noise(h)
        due = {sensor: 0.0 for sensor in ("gps", "baro", "mag")}
        velocity_noise = np.full(3, figures.gps["velocity_noise"] ** 2)
        first = int(STILL / h) if on_ground else 0
        if on_ground:
            covariance = stand_still(figures, rotation(self.states[first].attitude), covariance)
        for n in range(first, len(self.states) - 1):
            now, after = self.states[n], self.states[n + 1]
            turn, time = rotation(after.attitude), (n + 1) * h
            force = turn.T @ ((after.velocity - now.velocity) / h - figures.gravity)
            f = transition(figures, turn, force, 0.5 * (now.rate + after.rate), h)
            covariance = f @ covariance @ f.T + noise
            for sensor, last in due.items():
                if time < last + getattr(figures, sensor)["period"] - 1e-9:
                    continue
                due[sensor] = time if last == 0.0 else last + getattr(figures, sensor)["period"]
                if sensor == "gps":
                    covariance = fused(covariance, measured(p=eye, fix=eye), fix_noise(figures))
                    covariance = fused(covariance, measured(v=eye), velocity_noise)
                elif sensor == "baro":
                    up = np.array([[0.0, 0.0, 1.0]])
                    one = np.ones((1, 1))
                    covariance = fused(covariance, measured(p=up, bb=one, wb=one), np.array([(figures.baro["noise"] / 12) ** 2]))
                else:
                    covariance = fused(covariance, field_seen(figures, turn), field_noise(figures))
            if time >= JUDGED[0]:
                v = np.diag(covariance)[AT["turn"]]
                found.append((v[0] + v[1], v[2]))
        return np.mean(found, axis=0)


def judge(flight: tuple[str, str, str, str], seeds: int, limit: float) -> bool:
    name, calibration, start, task = flight
    text = scenario(calibration, start, task)
    figures = Figures(str(volery.Scenario(text)))
    flights = [Flight(text, seed) for seed in range(1, seeds + 1)]
    real = np.sqrt(np.mean([f.errors() for f in flights], axis=0))
    bound = np.sqrt(np.mean([f.bound(figures, start == "ground") for f in flights[:2]], axis=0))
    # Deviation of a root mean square over so many flights, each with errors that hardly change in it: two numbers of tilt, one of yaw.
    sure = 1.645 / np.sqrt(2 * seeds * np.array([2.0, 1.0]))
    ratio = real / bound
    good = bool(np.all(ratio <= limit * (1 + sure)) and np.all(ratio >= 1 - 2 * sure))
    degrees = np.degrees([real[0], bound[0], real[1], bound[1]])
    print(f"{name:22} calibration {calibration:6} tilt {degrees[0]:.3f} deg, bound {degrees[1]:.3f}, {ratio[0]:.2f};"
          f" yaw {degrees[2]:.3f} deg, bound {degrees[3]:.3f}, {ratio[1]:.2f}{'' if good else '  PLANNED_VALUE_MAX'}", flush=True)
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--limit", type=float, default=1.3)
    given = parser.parse_args()
    results = [judge(flight, given.seeds, given.limit) for flight in FLIGHTS]
    if not all(results):
        sys.exit("estimator_bound: an estimate is further from its bound than it may be")
    print("estimator bound: ok")


if __name__ == "__main__":
    main()
