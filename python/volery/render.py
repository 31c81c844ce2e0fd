"""Pictures without a display, drawn with Pillow: of a world (ground, obstacles, bodies, drones, targets and the way flown) and of a
set of bodies."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Mapping

import numpy as np
from numpy.typing import NDArray

from . import _binding as b
from .scenario import Scenario
from .task import Task
from .world import World

if TYPE_CHECKING:
    from .bodies import Bodies, Body

Array = NDArray[np.float64]

SKY_HIGH, SKY_LOW = (96, 142, 196), (222, 233, 243)
GROUND, GRID = (201, 205, 196), (172, 178, 167)
OBSTACLE, BODY, ROTOR, ARM, TARGET = (168, 148, 128), (120, 130, 150), (60, 64, 72), (40, 42, 48), (46, 150, 84)
SOLIDS = [(196, 92, 62), (86, 122, 168), (208, 160, 66), (104, 142, 96), (142, 104, 150)]
DRONES = [(214, 68, 48), (38, 98, 190), (226, 154, 20), (128, 62, 156), (20, 144, 148)]
LIGHT = np.array([0.35, -0.5, 0.79])
NEAR = 0.05  # [m] in front of the camera
FIELD_OF_VIEW = 0.9  # [rad] across
TRAIL = 2000  # moments kept
SURROUNDINGS = 8.0  # [m] what is nearer to the first drone is to be seen


class Canvas:
    """A camera over level ground, and what it is drawn with: polygons and lines, the farthest first."""

    def __init__(self, width: int, height: int) -> None:
        try:
            from PIL import Image, ImageDraw
        except ImportError:
            raise b.Error("render: drawing needs Pillow: pip install pillow") from None
        self._image, self._image_draw = Image, ImageDraw
        self.size = (width, height)
        self.eye = self.at = np.zeros(3)

    def _paint(self, items: list[tuple[float, Any]], image: Any) -> NDArray[np.uint8]:
        for _, paint in sorted(items, key=lambda item: -item[0]):
            paint()
        return np.asarray(image, dtype=np.uint8)

    def _begin(self) -> Any:
        """Sky and ground, to be drawn on."""
        image = self._background()
        self._pen = self._image_draw.Draw(image)
        self._draw_grid()
        return image

    # ---- camera

    def _look_at(self, eye: Array, at: Array) -> None:
        self.eye, self.at = eye, at
        forward = (at - eye) / np.linalg.norm(at - eye)
        right = np.cross(forward, [0.0, 0.0, 1.0])
        if np.linalg.norm(right) < 1e-6:  # straight down or up
            right = np.array([0.0, -1.0, 0.0])
        right /= np.linalg.norm(right)
        self.axes = np.stack([right, np.cross(right, forward), forward])
        self.focal = 0.5 * self.size[0] / np.tan(0.5 * FIELD_OF_VIEW)

    def _look_over(self, points: Array, reach: float) -> None:
        """From a side and a little above, so that all points are seen, and what is `reach` about their middle."""
        middle = 0.5 * (points.min(0) + points.max(0))
        reach = max(float(np.linalg.norm(points - middle, axis=1).max()), reach)
        direction = np.array([-0.75, -0.55, 0.22])
        eye = middle + direction / np.linalg.norm(direction) * (2.9 * reach)
        eye[2] = max(eye[2], 0.3)
        self._look_at(eye, middle)

    def _are_in_view(self, points: Array) -> bool:
        camera_points = (points - self.eye) @ self.axes.T
        if (camera_points[:, 2] < NEAR).any():
            return False
        pixels = self._pixels(camera_points)
        return bool(((pixels > 0.05 * np.array(self.size)) & (pixels < 0.95 * np.array(self.size))).all())

    def _pixels(self, camera_points: Array) -> Array:
        scaled = camera_points[..., :2] * (self.focal / camera_points[..., 2:])
        return np.stack([0.5 * self.size[0] + scaled[..., 0], 0.5 * self.size[1] - scaled[..., 1]], axis=-1)

    def _clip(self, points: Array) -> Array | None:
        """A polygon's part in front of the camera, as pixels."""
        camera_points = (np.asarray(points) - self.eye) @ self.axes.T
        if (camera_points[:, 2] < NEAR).any():
            clipped = []
            for p, q in zip(camera_points, np.roll(camera_points, -1, axis=0)):
                if p[2] >= NEAR:
                    clipped.append(p)
                if (p[2] >= NEAR) != (q[2] >= NEAR):
                    clipped.append(p + (q - p) * ((NEAR - p[2]) / (q[2] - p[2])))
            if len(clipped) < 3:
                return None
            camera_points = np.array(clipped)
        return self._pixels(camera_points)

    # ---- what is drawn

    def _background(self) -> Any:
        """Sky above the horizon, ground below it, paler far away."""
        width, height = self.size
        horizon = 0.5 * height + self.focal * self.axes[2, 2] / max(self.axes[1, 2], 1e-6)
        pixel_row = np.arange(height)[:, None] + 0.5
        sky_blend = np.clip(pixel_row / max(horizon, 1.0), 0.0, 1.0)
        sky = (1.0 - sky_blend) * np.array(SKY_HIGH) + sky_blend * np.array(SKY_LOW)
        haze = np.exp(-np.maximum(pixel_row - horizon, 0.0) / (0.06 * height))
        ground = (1.0 - haze) * np.array(GROUND) + haze * np.array(SKY_LOW)
        rows = np.where(pixel_row < horizon, sky, ground)
        return self._image.fromarray(np.repeat(rows[:, None, :], width, axis=1).astype(np.uint8))

    def _draw_grid(self) -> None:
        distance = max(float(np.linalg.norm(self.at - self.eye)), 0.2)
        step, count = 10.0 ** np.floor(np.log10(distance / 2.0)), 20
        x, y = np.round(self.at[:2] / step) * step
        span = count * step
        for k in range(-count, count + 1):
            for ends in ([[x + k * step, y - span, 0.0], [x + k * step, y + span, 0.0]],
                         [[x - span, y + k * step, 0.0], [x + span, y + k * step, 0.0]]):
                self._line(np.array(ends), GRID, 1)

    def _polygon(self, points: Array, colour: tuple[int, int, int], outline: tuple[int, int, int] | None) -> None:
        pixels = self._clip(points)
        if pixels is not None:
            self._pen.polygon([tuple(p) for p in np.clip(pixels, -1e5, 1e5)], fill=colour, outline=outline)

    def _line(self, points: Array, colour: tuple[int, int, int], width: int) -> None:
        camera_points = (points - self.eye) @ self.axes.T
        for p, q in zip(camera_points[:-1], camera_points[1:]):
            if p[2] < NEAR and q[2] < NEAR:
                continue
            if p[2] < NEAR:
                p = p + (q - p) * ((NEAR - p[2]) / (q[2] - p[2]))
            if q[2] < NEAR:
                q = q + (p - q) * ((NEAR - q[2]) / (p[2] - q[2]))
            pixels = np.clip(self._pixels(np.stack([p, q])), -1e5, 1e5)
            self._pen.line([tuple(pixels[0]), tuple(pixels[1])], fill=colour, width=width)

    def _depth(self, points: Array) -> float:
        return float(((np.asarray(points).mean(0) - self.eye) @ self.axes.T)[2])

    def _add_face(self, items: list[tuple[float, Any]], face: Array, colour: tuple[int, int, int]) -> None:
        normal = np.cross(face[1] - face[0], face[2] - face[0])
        length = np.linalg.norm(normal)
        if len(face) > 3 and length == 0.0:  # the tip of a cone: its first corners fall together
            normal = np.cross(face[2] - face[0], face[3] - face[0])
            length = np.linalg.norm(normal)
        if length == 0.0 or (face[0] - self.eye) @ normal >= 0.0:
            return  # its back
        shade = 0.55 + 0.45 * max(0.0, float(normal @ LIGHT) / float(length))
        shaded_colour = _shaded(colour, shade)
        items.append((self._depth(face), lambda: self._polygon(face, shaded_colour, _shaded(shaded_colour, 0.92))))

class Picture(Canvas):
    """Draws a world of a scenario at the states it is shown; the camera stands still until something leaves its view."""

    def __init__(self, scenario: Scenario, width: int, height: int) -> None:
        super().__init__(width, height)
        self.world = World(scenario, rung="motors")  # to read states with; it never steps
        self.names = scenario.drones
        self.obstacles = _faces(self.world, -1)
        self.hubs = [_hubs(scenario, i) for i in range(len(self.names))]
        self.begin()

    def begin(self) -> None:
        """A new episode: the way flown is forgotten."""
        self.trail: list[list[Array]] = [[] for _ in self.names]
        self.has_camera = False

    def follow(self, state: bytes) -> None:
        """The world is there now."""
        self.world.restore(state)
        for i, path in enumerate(self.trail):
            path.append(self.world.state(i).position)
            del path[:-TRAIL]

    def draw(self, task: Task, row: int = 0) -> NDArray[np.uint8]:
        """(height, width, 3)"""
        targets = [task.goals[row, i] for i in range(len(self.names))]
        self._place_camera([path[-1] for path in self.trail], [t for t in targets if len(t)])
        image = self._begin()
        items: list[tuple[float, Any]] = []
        for face in self.obstacles:
            self._add_face(items, face, OBSTACLE)
        for k in range(len(self.world.scenario.bodies)):
            for face in _faces(self.world, k):
                self._add_face(items, face, BODY)
        for i, trail in enumerate(self.trail):
            colour = DRONES[i % len(DRONES)]
            self._add_targets(items, task, targets[i], int(task.goal_index[row, i]))
            self._add_trail(items, trail, colour)
            self._add_drone(items, i, colour)
        return self._paint(items, image)

    def _place_camera(self, drones: list[Array], goals: list[Array]) -> None:
        if self.has_camera and self._are_in_view(np.array(drones)):
            return
        near = [face for face in self._solids() if np.linalg.norm(face.mean(0) - drones[0]) < SURROUNDINGS]
        points = np.concatenate([np.array(drones), *goals, *near])
        self._look_over(points, 1.2)
        self.has_camera = True

    def _solids(self) -> list[Array]:
        """Faces of obstacles and bodies where they are now."""
        return self.obstacles + [face for k in range(len(self.world.scenario.bodies)) for face in _faces(self.world, k)]

    def _add_trail(self, items: list[tuple[float, Any]], path: list[Array], colour: tuple[int, int, int]) -> None:
        if len(path) < 2:
            return
        points = np.array(path[:: max(1, len(path) // 300)] + [path[-1]])
        lightened = (_lighten(colour[0]), _lighten(colour[1]), _lighten(colour[2]))
        for first, last in zip(points[:-1], points[1:]):
            ends = np.stack([first, last])
            items.append((self._depth(ends) + 1e-3, lambda ends=ends: self._line(ends, lightened, 2)))

    def _add_targets(self, items: list[tuple[float, Any]], task: Task, goals: Array, reached_count: int) -> None:
        angles = np.linspace(0.0, 2.0 * np.pi, 33)[:, None]
        for k, goal in enumerate(goals):
            is_next = k == reached_count % len(goals)
            side, up = self.axes[0], self.axes[1]  # a goal faces the camera
            if task.target == "gates":
                direction = goals[(k + 1) % len(goals)] - goals[k - 1]
                side = np.cross(direction, [0.0, 0.0, 1.0])
                side = side / max(float(np.linalg.norm(side)), 1e-9)
                up = np.cross(side, direction) / max(float(np.linalg.norm(direction)), 1e-9)
            ring = goal + task.goal_radius * (np.cos(angles) * side + np.sin(angles) * up)
            colour = TARGET if is_next else _shaded(TARGET, 1.35)
            width = 5 if is_next else 3
            items.append((self._depth(ring), lambda ring=ring, colour=colour, width=width: self._line(ring, colour, width)))

    def _add_drone(self, items: list[tuple[float, Any]], index: int, colour: tuple[int, int, int]) -> None:
        state = self.world.state(index)
        w, x, y, z = state.attitude
        rotation = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                         [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                         [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
        hubs, radius = self.hubs[index]
        depth = self._depth(state.position[None, :])
        span = float(np.linalg.norm(hubs, axis=1).max()) + radius if len(hubs) else 0.1
        scale = max(1.0, 0.05 * depth / span)  # never smaller than can be seen
        angles = np.linspace(0.0, 2.0 * np.pi, 25)[:-1]
        circle = np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=-1)
        disc = radius * circle
        shadow = state.position * [1.0, 1.0, 0.0] + (scale * span) * circle
        if state.position[2] > 0.0:
            items.append((1e9, lambda: self._polygon(shadow, _shaded(GROUND, 0.8), None)))
        for hub in hubs:
            arm = np.stack([state.position, state.position + rotation @ (scale * hub)])
            items.append((depth + 1e-3, lambda arm=arm: self._line(arm, ARM, 3)))
            points = state.position + (scale * (hub + disc)) @ rotation.T
            fill = colour if hub[0] > 0.0 else ROTOR  # the front is coloured
            items.append((self._depth(points), lambda points=points, fill=fill: self._polygon(points, fill, ARM)))
        sphere_outline = np.cos(angles)[:, None] * self.axes[0] + np.sin(angles)[:, None] * self.axes[1]
        body = state.position + (0.22 * scale * span) * sphere_outline
        items.append((depth - 1e-3, lambda: self._polygon(body, colour, ARM)))


class BodiesPicture(Canvas):
    """Draws a set of bodies as it is now."""

    def __init__(self, bodies: Bodies, width: int, height: int, eye: Any, at: Any) -> None:
        super().__init__(width, height)
        self.faces = [(body, _body_faces(bodies, body.id)) for body in bodies]
        points = [face for _, faces in self.faces for face in faces]
        self._look_over(np.concatenate(points) if points else np.zeros((1, 3)), 0.1)
        if eye is not None or at is not None:
            eye_position = self.eye if eye is None else b.check_array("eye", eye, 3)
            look_at_point = self.at if at is None else b.check_array("at", at, 3)
            if not 1e-9 < np.linalg.norm(look_at_point - eye_position) < 1e9:
                raise b.Error("render: the camera must be apart from what it looks at")
            self._look_at(eye_position, look_at_point)

    def draw(self, colours: Mapping[Body, tuple[int, int, int]]) -> NDArray[np.uint8]:
        """(height, width, 3)"""
        image = self._begin()
        items: list[tuple[float, Any]] = []
        for k, (body, faces) in enumerate(self.faces):
            colour = colours.get(body, OBSTACLE if np.isinf(body.mass) else SOLIDS[k % len(SOLIDS)])
            if faces:
                self._add_shadow(items, np.concatenate(faces))
            for face in faces:
                self._add_face(items, face, colour)
        return self._paint(items, image)

    def _add_shadow(self, items: list[tuple[float, Any]], points: Array) -> None:
        """Of light from above, on the ground."""
        if points[:, 2].max() <= 0.0:
            return
        outline = _outline(points)
        if len(outline) > 2:
            items.append((1e9, lambda: self._polygon(outline, _shaded(GROUND, 0.8), None)))


def _lighten(value: int) -> int:
    return int(0.55 * value + 0.45 * 255)


def _shaded(colour: tuple[int, ...], shade: float) -> tuple[int, int, int]:
    r, g, blue = (min(255, int(shade * c)) for c in colour)
    return r, g, blue


def _outline(points: Array) -> Array:
    """The convex hull of points seen from above, on the ground (Andrew's monotone chain)."""
    rows = np.unique(points[:, :2], axis=0)  # sorted by x, then y
    chains: list[list[Array]] = []
    for order in (rows, rows[::-1]):
        chain: list[Array] = []
        for p in order:
            while len(chain) > 1:
                edge, next_edge = chain[-1] - chain[-2], p - chain[-1]
                if edge[0] * next_edge[1] - edge[1] * next_edge[0] > 0.0:
                    break
                chain.pop()
            chain.append(p)
        chains.append(chain[:-1])
    hull_points = np.array(chains[0] + chains[1]).reshape(-1, 2)
    return np.column_stack([hull_points, np.zeros(len(hull_points))])


def _faces(world: World, body: int) -> list[Array]:
    """Polygons of the obstacles (-1), or of a body where it is now."""
    out = ctypes.POINTER(ctypes.c_double)()
    return _polygons(b.lib.world_faces(world._pointer, body, ctypes.byref(out)), out)


def _body_faces(bodies: Bodies, number: int) -> list[Array]:
    """Polygons of a body of a set where it is now; a plane has none."""
    out = ctypes.POINTER(ctypes.c_double)()
    return _polygons(b.lib.body_faces(bodies._set.pointer, number, ctypes.byref(out)), out)


def _polygons(size: int, out: Any) -> list[Array]:
    """What the library has written, `size` numbers: of each polygon how many corners it has, then these."""
    if size < 0:
        b.lib.binding_free(out)
        raise MemoryError("render: no memory for the faces")
    if size == 0:
        return []
    flat = np.ctypeslib.as_array(out, (size,)).copy()
    b.lib.binding_free(out)
    faces, index = [], 0
    while index < size:
        count = int(flat[index])
        faces.append(flat[index + 1 : index + 1 + 3 * count].reshape(count, 3))
        index += 1 + 3 * count
    return faces


def _hubs(scenario: Scenario, drone: int) -> tuple[Array, float]:
    """Hubs of a drone's rotors in body axes, and the radius of its discs."""
    out = (ctypes.c_double * 24)()
    radius = ctypes.c_double()
    count = b.lib.scenario_hubs(scenario._pointer, drone, out, ctypes.byref(radius))
    hubs = np.array(out[: 3 * count]).reshape(count, 3)
    if radius.value > 0.0 or count == 0:
        return hubs, radius.value
    return hubs, 0.45 * float(np.linalg.norm(hubs, axis=1).max())
