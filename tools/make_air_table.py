#!/usr/bin/env python3
# make_air_table.py - writes src/equations/air_table.inl: the U.S. Standard Atmosphere 1976 from 86 to 1,000 km.
#
# The equations of NOAA-S/T 76-1562, part 1: temperature by its four pieces, number densities of N2, O, O2, Ar and He by
# diffusive equilibrium with eddy diffusion and the vertical fluxes of table 5, H from 150 km. M is M0 up to 100 km for
# every species. Above: N2 is the background of O and O2; N2, O and O2 are that of Ar and He; all five that of H.
# atmosphere.h interpolates ln rho and ln p by cubic splines over x = ln(1 + (z - 86 km) / 20 km), so that ln rho is
# twice differentiable in z. Both are shifted by less than 2e-5 to begin where the layers below end.
#
# usage: tools/make_air_table.py > src/equations/air_table.inl
from math import exp, log, sqrt

GAS, AVOGADRO, BOLTZMANN = 8314.32, 6.022169e26, 1.380622e-23  # [J/(kmol K)], [1/kmol], [J/K], as of 1976
RADIUS, G0, M0 = 6356.766, 9.80665, 28.9644  # [km], [m/s^2], [kg/kmol]
MASS = {"N2": 28.0134, "O": 15.9994, "O2": 31.9988, "Ar": 39.948, "He": 4.0026, "H": 1.00797}  # [kg/kmol]
AT_86 = {"N2": 1.129794e20, "O": 8.6e16, "O2": 3.030898e19, "Ar": 1.3514e18, "He": 7.5817e14}  # [1/m^3]
DIFFUSION = {"O": (6.986e20, 0.75), "O2": (4.863e20, 0.75), "Ar": (4.487e20, 0.87), "He": (1.7e21, 0.691), "H": (3.305e21, 0.5)}
THERMAL = {"O": 0.0, "O2": 0.0, "Ar": 0.0, "He": -0.4, "H": -0.25}
FLUX = {  # Q [1/km^3], U [km], W [1/km^3]
    "O": (-5.809644e-4, 56.90311, 2.706240e-5),
    "O2": (1.366212e-4, 86.0, 8.333333e-5),
    "Ar": (9.434079e-5, 86.0, 8.333333e-5),
    "He": (-2.457369e-4, 86.0, 6.666667e-4),
}
H_500, H_FLUX = 8.0e10, 7.2e11  # [1/m^3] at 500 km, [1/(m^2 s)]
BOTTOM, TOP, STEP, SCALE, KNOTS = 86.0, 1000.0, 0.02, 20.0, 129
# Where the layers below end: atmosphere.h.
END_PRESSURE, END_TEMPERATURE, SPECIFIC_GAS = 0.37338046183105788, 186.94590831018851, 287.05307204706467


def temperature(z):
    """[K] and its slope [K/km]."""
    if z < 91.0:
        return 186.8673, 0.0
    if z < 110.0:
        scaled_height = (z - 91.0) / -19.9429
        root = sqrt(1.0 - scaled_height * scaled_height)
        return 263.1905 - 76.3232 * root, 76.3232 / -19.9429 * scaled_height / root
    if z < 120.0:
        return 240.0 + 12.0 * (z - 110.0), 12.0
    ratio = (RADIUS + 120.0) / (RADIUS + z)
    difference = 640.0 * exp(-0.01875 * (z - 120.0) * ratio)
    return 1000.0 - difference, 0.01875 * ratio * ratio * difference


def gravity(z):
    return G0 * (RADIUS / (RADIUS + z)) ** 2


def eddy_diffusion(z):
    """[m^2/s]"""
    if z < 95.0:
        return 120.0
    return 120.0 * exp(1.0 - 400.0 / (400.0 - (z - 95.0) ** 2)) if z < 115.0 else 0.0


def flux(species, z):
    """v / (D + K) [1/km]"""
    coefficient, reference_height, decay = FLUX[species]
    velocity = coefficient * (z - reference_height) ** 2 * exp(-decay * (z - reference_height) ** 3)
    if species == "O" and z < 97.0:
        velocity -= 3.416248e-3 * (97.0 - z) ** 2 * exp(-5.008765e-4 * (97.0 - z) ** 3)
    return velocity


def diffusion(species, z, background):
    a, b = DIFFUSION[species]
    return a / background * (temperature(z)[0] / 273.15) ** b


def densities(z, integral):
    temperature_ratio = temperature(BOTTOM)[0] / temperature(z)[0]
    return {s: n * temperature_ratio * exp(-integral[s]) for s, n in AT_86.items()}


def slopes(z, integral):
    """d integral / dz [1/km] of every species but H."""
    number_densities = densities(z, integral)
    t, gradient = temperature(z)
    weight = gravity(z) * 1e3 / (GAS * t)
    out = {"N2": weight * (M0 if z < 100.0 else MASS["N2"])}
    background_species = ("N2", "O", "O2")
    total = sum(number_densities[s] for s in background_species)
    backgrounds = {
        "O": (number_densities["N2"], MASS["N2"]),
        "O2": (number_densities["N2"], MASS["N2"]),
        "Ar": (total, sum(number_densities[s] * MASS[s] for s in background_species) / total),
        "He": (total, sum(number_densities[s] * MASS[s] for s in background_species) / total),
    }
    for s, (background, mass) in backgrounds.items():
        molecular, eddy = diffusion(s, z, background), eddy_diffusion(z)
        mean_mass = M0 if z < 100.0 else mass
        out[s] = (weight / (molecular + eddy) * (molecular * MASS[s] + mean_mass * eddy)
                  + molecular / (molecular + eddy) * THERMAL[s] * gradient / t + flux(s, z))
    return out


def add_scaled(integral, h, slope):
    return {s: integral[s] + h * slope[s] for s in integral}


def integrate():
    """Number densities every STEP, by RK4: the borders of all pieces lie on steps."""
    integral = {s: 0.0 for s in AT_86}
    rows = [densities(BOTTOM, integral)]
    for i in range(round((TOP - BOTTOM) / STEP)):
        z, h, inside = BOTTOM + i * STEP, STEP, 1e-9
        k1 = slopes(z + inside, integral)
        k2 = slopes(z + h / 2, add_scaled(integral, h / 2, k1))
        k3 = slopes(z + h / 2, add_scaled(integral, h / 2, k2))
        k4 = slopes(z + h - inside, add_scaled(integral, h, k3))
        integral = {s: integral[s] + h / 6 * (k1[s] + 2 * k2[s] + 2 * k3[s] + k4[s]) for s in integral}
        rows.append(densities(z + h, integral))
    return rows


def hydrogen(rows):
    """The same of H, from 150 km, where its flux and 500 km, where its density is given."""
    first_step, step_500 = round((150.0 - BOTTOM) / STEP), round((500.0 - BOTTOM) / STEP)
    z = [BOTTOM + i * STEP for i in range(len(rows))]
    t500 = temperature(500.0)[0]
    tau, escaped, out = [0.0] * len(rows), [0.0] * len(rows), [0.0] * len(rows)

    def weight(at):
        return gravity(at) * MASS["H"] * 1e3 / (GAS * temperature(at)[0])

    def loss(i):
        t = temperature(z[i])[0]
        return H_FLUX * 1e3 / diffusion("H", z[i], sum(rows[i].values())) * (t / t500) ** 0.75 * exp(tau[i])

    for sign, last in ((1, len(rows) - 1), (-1, first_step)):
        for i in range(step_500, last, sign):
            middle = (z[i] + z[i + sign]) / 2
            tau[i + sign] = tau[i] + sign * STEP / 6 * (weight(z[i]) + 4 * weight(middle) + weight(z[i + sign]))
            escaped[i + sign] = escaped[i] + sign * STEP / 2 * (loss(i) + loss(i + sign))
    for i in range(first_step, len(rows)):
        out[i] = (H_500 - escaped[i]) * (t500 / temperature(z[i])[0]) ** 0.75 * exp(-tau[i])
    return out


def logarithms():
    """ln rho and ln p at the knots, by cubic interpolation of four steps around each."""
    rows = integrate()
    for row, h in zip(rows, hydrogen(rows)):
        row["H"] = h
    log_density = [log(sum(n * MASS[s] for s, n in row.items()) / AVOGADRO) for row in rows]
    log_pressure = [log(sum(row.values()) * BOLTZMANN * temperature(BOTTOM + i * STEP)[0]) for i, row in enumerate(rows)]

    def interpolate(values, z):
        u = (z - BOTTOM) / STEP
        i = min(max(int(u) - 1, 0), len(values) - 4)
        u -= i
        a, b, c, d = values[i : i + 4]
        return (a * (u - 1) * (u - 2) * (u - 3) / -6 + b * u * (u - 2) * (u - 3) / 2
                - c * u * (u - 1) * (u - 3) / 2 + d * u * (u - 1) * (u - 2) / 6)

    width = log(1 + (TOP - BOTTOM) / SCALE) / (KNOTS - 1)
    heights = [BOTTOM + SCALE * (exp(i * width) - 1) for i in range(KNOTS)]
    return [interpolate(log_density, z) for z in heights], [interpolate(log_pressure, z) for z in heights], width


def curvatures(values):
    """Second derivatives per knot squared of the natural cubic spline."""
    count = len(values)
    diagonal, right_side = [4.0] * count, [0.0] * count
    for i in range(1, count - 1):
        right_side[i] = 6 * (values[i - 1] - 2 * values[i] + values[i + 1])
        if i > 1:
            diagonal[i] -= 1 / diagonal[i - 1]
            right_side[i] -= right_side[i - 1] / diagonal[i - 1]
    out = [0.0] * count
    for i in range(count - 2, 0, -1):
        out[i] = (right_side[i] - (out[i + 1] if i < count - 2 else 0.0)) / diagonal[i]
    return out


def print_table(name, values):
    print(f"static const double {name}[AIR_UPPER_KNOTS] = {{")
    for i in range(0, len(values), 5):
        print("    " + ", ".join(f"{v:.15g}" for v in values[i : i + 5]) + ",")
    print("};")


def main():
    log_density, log_pressure, width = logarithms()
    log_density = [v + log(END_PRESSURE / (SPECIFIC_GAS * END_TEMPERATURE)) - log_density[0] for v in log_density]
    log_pressure = [v + log(END_PRESSURE) - log_pressure[0] for v in log_pressure]
    print("// air_table.inl - splines of ln rho and ln p from 86 to 1,000 km, included by atmosphere.h.")
    print("// Written by tools/make_air_table.py; do not edit.")
    print("// clang-format off")
    print(f"#define AIR_UPPER_KNOTS {KNOTS}")
    print(f"#define AIR_UPPER_WIDTH {width!r} // of ln(1 + (z - 86 km) / 20 km), from knot to knot")
    print_table("air_upper_density", log_density)
    print_table("air_upper_density_curvature", curvatures(log_density))
    print_table("air_upper_pressure", log_pressure)
    print_table("air_upper_pressure_curvature", curvatures(log_pressure))
    print("// clang-format on")


main()
