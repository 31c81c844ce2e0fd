"""compare.py LIBRARY - vy_magnetic_model() against pygeomag at random places and dates of the model."""
import ctypes
import math
import random
import sys

from pygeomag import GeoMag

library = ctypes.CDLL(sys.argv[1])
field = library.vy_magnetic_model
field.argtypes = [ctypes.c_double] * 4 + [ctypes.POINTER(ctypes.c_double * 3), ctypes.c_void_p]
other = GeoMag(coefficients_file="wmm/WMM_2025.COF")
random.seed(1)
worst = 0.0
for _ in range(2000):
    latitude, longitude = math.degrees(math.asin(random.uniform(-1.0, 1.0))), random.uniform(-180.0, 180.0)
    height, date = random.uniform(-5e3, 1e5), random.uniform(2025.0, 2029.99)
    ours = (ctypes.c_double * 3)()
    assert field(math.radians(latitude), math.radians(longitude), height, date, ctypes.byref(ours), None) == 0
    theirs = other.calculate(glat=latitude, glon=longitude, alt=height / 1000.0, time=date)
    worst = max(worst, *(abs(1e9 * a - b) for a, b in zip(ours, (theirs.y, theirs.x, -theirs.z))))
print(f"magnetic: within {worst:.1e} nT of pygeomag at 2000 places")
assert worst < 5.0
