// view.ts - the 3D scene: drones, trails, floor, arrows, and three cameras.
import { Box3, BufferAttribute, BufferGeometry, Color, DirectionalLight, Fog, HemisphereLight, LineDashedMaterial, Line, Mesh, type Material, type Object3D, PerspectiveCamera, Scene, Vector3, WebGLRenderer } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { Drone } from "../data/run";
import { originOf } from "../data/motion";
import type { Theme } from "../ui/theme";
import { Arrows, arrowKinds } from "./arrows";
import { Drag } from "./drag";
import { craftPosition, Fleet, type Craft } from "./fleet";
import { extentOf, fitDistance, type Extent } from "./frame";
import { Ghost } from "./ghost";
import { Ground, roundUp } from "./ground";
import { Jets } from "./jets";
import { Joints } from "./joints";
import { Labels } from "./labels";
import { Obstacles } from "./obstacles";
import { Paths } from "./paths";
import { Rays } from "./rays";
import { Sky } from "./sky";
import { Touches } from "./touches";
import { Trails, type TrailColor } from "./trail";
import { WindField } from "./wind_field";

export type CameraMode = "whole" | "follow" | "top";

const SMOOTH_MAX = 24; // drones up to which edges are smoothed: it costs most where no graphics card helps
const CLEARED_DRONES_MAX = 12; // drones that no obstacle hides
const PLANS_SHOWN_MAX = 6; // declared ways that are shown together
const SLOW_FRAME = 50; // [ms] from frame to frame: beyond, fewer pixels are drawn while it plays
const RATIOS = [2, 1, 0.7, 0.5, 0.5]; // pixels of the picture per pixel of the page; at the last of them rotors of many drones have no discs

const CAMERA_DIRECTIONS = { whole: new Vector3(-0.7, -0.9, 0.42), follow: new Vector3(-0.75, -0.8, 0.55), top: new Vector3(0, -1e-4, 1) }; // where cameras stand
const SKY_RADIUS = 40; // of the sky, in reaches

export class View {
  fleet!: Fleet;
  arrows!: Arrows;
  ground!: Ground;
  enlarged!: number; // bodies are drawn so many times their size, if that is wanted
  paths!: Paths;
  ghost!: Ghost;
  labels!: Labels;
  wind!: WindField;
  larger = true;
  mode: CameraMode = "whole";
  trails = true;
  contacts = true;
  rays = true;
  onPick?: (drone: Drone) => void;
  onDrag?: () => void; // something is aimed: the scene is to be drawn
  readonly drag: Drag;
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(45, 1, 0.01, 1000);
  private readonly controls: OrbitControls;
  private joints!: Joints;
  private jets!: Jets;
  private sight!: Rays;
  private obstacles!: Obstacles;
  private trailLines!: Trails[];
  private touches!: Touches[];
  private readonly plans = new Map<Craft, Line<BufferGeometry, LineDashedMaterial>>();
  private extent!: Extent;
  private whole!: Box3; // flights, obstacles, wind field
  private sky!: Sky;
  private moved = false; // by hand: then it is not fitted again
  private floor!: number;
  private wasTouched = false; // that things touch
  private theme?: Theme;
  private trailColor: TrailColor = "drone";
  private replaced: Object3D[] = []; // of flights that are no longer shown: let go once the new ones are drawn
  private readonly target = new Vector3();
  private chosen!: Craft;
  private ratio = 0; // index into RATIOS
  private slow = 0; // frames in a row

  constructor(private readonly box: HTMLElement, drones: Drone[]) {
    this.renderer = new WebGLRenderer({ antialias: drones.length <= SMOOTH_MAX, powerPreference: "high-performance" });
    this.renderer.domElement.className = "scene-canvas";
    box.append(this.renderer.domElement);
    this.camera.up.set(0, 0, 1);
    this.drag = this.makeDrag();
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.enableDamping = false;
    this.controls.maxPolarAngle = Math.PI * 0.55;
    this.controls.addEventListener("start", () => (this.moved = true));
    this.build(drones);
    this.setMode("whole");
    this.listenForPicks();
  }

  // Everything that is in the scene.
  private build(drones: Drone[]): void {
    this.fleet = new Fleet(this.scene, drones, originOf(drones));
    if (this.fleet.crafts.length === 0) throw new Error("The log does not say where any drone was.");
    this.chosen = this.fleet.crafts[0];
    this.extent = extentOf(this.fleet.crafts);
    const size = Math.max(...this.fleet.crafts.map((craft) => craft.shape.size));
    const runs = [...new Set(drones.map((drone) => drone.run))];
    this.obstacles = new Obstacles(this.scene, runs, this.extent.reach);
    this.floor = this.obstacles.level ?? this.obstacles.lowest ?? floorOf(this.extent);
    this.ground = new Ground(this.extent.reach, this.floor);
    this.wind = new WindField(this.scene, runs.find((run) => run.info.wind_field)?.info.wind_field);
    this.sky = new Sky(SKY_RADIUS * this.extent.reach);
    this.paths = new Paths(this.scene, this.fleet.crafts, this.extent.reach);
    this.ghost = new Ghost(this.scene);
    this.labels = new Labels(this.fleet.crafts);
    this.box.append(this.labels.element);
    this.enlarge(size);
    this.joints = new Joints(this.scene, this.fleet.crafts);
    this.jets = new Jets(this.scene, this.fleet.crafts);
    this.sight = new Rays(this.scene, this.fleet.crafts);
    const craftsByRun = runs.map((run) => this.fleet.crafts.filter((craft) => craft.drone.run === run));
    this.trailLines = craftsByRun.filter((crafts) => crafts.length > 0).map((crafts) => new Trails(this.scene, crafts));
    this.touches = runs.map((run) => new Touches(this.scene, run));
    this.arrows = new Arrows(this.scene, arrowKinds(drones));
    this.scene.add(this.sky.object, this.ground.object, ...this.lights());
    this.addPlans();
    this.camera.near = Math.max(this.extent.reach / 5000, 0.005);
    this.camera.far = this.extent.reach * 80;
    this.fleet.move(this.chosen.motion.time[0]);
  }

  /// Show other flights in place of these. What is switched on stays so; the camera stays where it is, unless they are elsewhere.
  replace(drones: Drone[]): void {
    const { whole, chosen, arrows, paths, ghost, wind, labels } = this;
    this.replaced.push(...this.scene.children);
    this.scene.clear();
    this.plans.clear();
    labels.element.remove();
    this.build(drones);
    this.chosen = this.fleet.crafts.find((craft) => craft.drone.name === chosen.drone.name) ?? this.chosen;
    this.showPlans();
    for (const id of arrows.shown) this.arrows.shown.add(id);
    this.arrows.gain = arrows.gain;
    [this.paths.visible, this.ghost.shown, this.wind.shown] = [paths.visible, ghost.shown, wind.shown];
    if (this.fleet.crafts.length > 1) this.labels.shown = labels.shown;
    this.setTrailColor(this.trailColor);
    if (this.theme) this.paint(this.theme);
    const near = whole.clone().expandByScalar(0.25 * whole.getSize(new Vector3()).length());
    const isInView = near.containsBox(this.whole) && 4 * this.whole.getSize(new Vector3()).length() > whole.getSize(new Vector3()).length();
    if (!isInView) this.moved = false;
    else this.whole = whole; // what a window of another size is fitted to
    this.resize(!isInView);
  }

  private letGo(): void {
    for (const object of this.replaced) {
      object.traverse((part) => {
        const { geometry, material } = part as Partial<Mesh>;
        geometry?.dispose();
        for (const one of ([] as Material[]).concat(material ?? [])) one.dispose();
      });
    }
    this.replaced = [];
  }

  // Beside what it can hit, a drone is as large as it is, as long as it can be seen at all in the first picture.
  private enlarge(size: number): void {
    this.enlarged = 1;
    this.whole = this.wholeBox(size);
    const { reach } = this.extent;
    const minSize = this.obstacles.count > 0 ? Math.max(reach / 60, this.whole.getSize(new Vector3()).length() / 100) : reach / 20;
    if (size >= minSize) return;
    this.enlarged = roundUp(minSize / size);
    this.whole = this.wholeBox(size);
  }

  /// Each frame of a flight that is under way: where drones are now.
  refresh(): void {
    for (const { motion } of this.fleet.crafts) if (!motion.needsConversion) motion.refresh();
  }

  /// Now and then: ways, contacts and arrows of all there is by now, and a larger stage where somebody has left it. Returns whether there
  /// is something new to switch on or off.
  grow(): boolean {
    const { crafts } = this.fleet;
    for (const { motion } of crafts) motion.refresh();
    for (const trails of this.trailLines) trails.grow();
    for (const touches of this.touches) touches.grow();
    this.paths.fill(this.extent.reach);
    if (this.theme) this.paths.paint(this.theme);
    const kinds = arrowKinds(crafts.map((craft) => craft.drone));
    const before = `${this.arrows.kinds.length} ${this.enlarged} ${this.wasTouched}`;
    this.arrows.kinds = kinds;
    const now = extentOf(crafts);
    if (!this.extent.box.containsBox(now.box)) this.rescale(now);
    this.wasTouched = this.touched;
    return before !== `${this.arrows.kinds.length} ${this.enlarged} ${this.wasTouched}`;
  }

  // The stage for flights that have come this far, and some way further.
  private rescale(extent: Extent): void {
    this.extent.box.copy(extent.box.clone().expandByScalar(0.15 * extent.reach));
    this.extent.reach = Math.max(this.extent.reach, extent.reach);
    const size = Math.max(...this.fleet.crafts.map((craft) => craft.shape.size));
    this.floor = this.obstacles.level ?? this.obstacles.lowest ?? Math.min(this.floor, floorOf(extent));
    for (const object of [this.ground.object, this.sky.object]) {
      this.scene.remove(object);
      object.traverse((part) => (part as Partial<Mesh>).geometry?.dispose());
    }
    this.ground = new Ground(this.extent.reach, this.floor);
    this.sky = new Sky(SKY_RADIUS * this.extent.reach);
    this.scene.add(this.sky.object, this.ground.object);
    this.enlarge(size);
    this.camera.near = Math.max(this.extent.reach / 5000, 0.005);
    this.camera.far = this.extent.reach * 80;
    this.camera.updateProjectionMatrix();
    if (this.theme) this.paint(this.theme);
    if (!this.moved && this.mode !== "follow") this.setMode(this.mode);
  }

  private lights() {
    const sun = new DirectionalLight(0xffffff, 2.4);
    sun.position.set(-0.5, -0.7, 0.9);
    return [new HemisphereLight(0xffffff, 0x7c8893, 1.3), sun];
  }

  // Everything that the first view shows. What reaches far beyond the flight (terrain, a field of wind) is cut to some reaches.
  private wholeBox(size: number): Box3 {
    const whole = this.extent.box.clone().expandByScalar(this.scale * size);
    const limit = whole.clone().expandByScalar(1.5 * this.extent.reach);
    for (const other of [this.obstacles.box, this.wind.box]) if (!other.isEmpty()) whole.union(other.clone().intersect(limit));
    if (Math.abs(this.floor - whole.min.z) < this.extent.reach) whole.expandByPoint(whole.min.clone().setZ(this.floor));
    return whole;
  }

  /// How many times their size bodies are drawn.
  get scale(): number {
    return this.larger ? this.enlarged : 1;
  }

  // The declared way: setpoints joined by dashes.
  private addPlans(): void {
    for (const craft of this.fleet.crafts) {
      const points = craft.drone.info.setpoints ?? [];
      if (points.length < 2 || craft.drone.run.info.planet_radius) continue;
      const material = new LineDashedMaterial({ dashSize: this.ground.cell / 4, gapSize: this.ground.cell / 5 });
      const geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(points.flat()), 3));
      const line = new Line(geometry, material);
      line.computeLineDistances();
      this.plans.set(craft, line);
      this.scene.add(line);
    }
    this.showPlans();
  }

  // Of a few drones all are shown, of many the chosen one's.
  private showPlans(): void {
    for (const [craft, line] of this.plans) line.visible = this.plans.size <= PLANS_SHOWN_MAX || craft.drone.name === this.chosen.drone.name;
  }

  /// The log tells of contacts.
  get touched(): boolean {
    return this.fleet.crafts.some((craft) => craft.drone.run.contacts.length > 0);
  }

  /// The log has range finders or lidars.
  get looks(): boolean {
    return this.sight.any;
  }

  /// The log says what a drone believes.
  get estimates(): boolean {
    return this.fleet.crafts.some((craft) => Ghost.hasEstimate(craft));
  }

  setTrailColor(color: TrailColor): void {
    this.trailColor = color;
    for (const trails of this.trailLines) trails.setColor(color);
  }

  get colorOfTrails(): TrailColor {
    return this.trailColor;
  }

  get craft(): Craft {
    return this.chosen;
  }

  /// The direction the camera looks in, clockwise from north [rad], and how many pixels a metre has at what it looks at.
  get bearing(): { azimuth: number; perMetre: number } {
    const look = this.controls.target.clone().sub(this.camera.position);
    const up = new Vector3(0, 1, 0).applyQuaternion(this.camera.quaternion);
    const level = Math.hypot(look.x, look.y) > 1e-3 * look.length() ? look : up; // from above, what is up in the picture
    const perMetre = this.box.clientHeight / (2 * look.length() * Math.tan((this.camera.fov * Math.PI) / 360));
    return { azimuth: Math.atan2(level.x, level.y), perMetre };
  }

  get drone(): Drone {
    return this.chosen.drone;
  }

  choose(drone: Drone): void {
    const craft = this.fleet.crafts.find((c) => c.drone === drone);
    if (!craft) return;
    const previousPosition = craftPosition(this.chosen);
    this.chosen = craft;
    this.showPlans();
    if (this.mode === "follow") this.shift(craftPosition(craft).sub(previousPosition));
  }

  setMode(mode: CameraMode): void {
    this.mode = mode;
    this.moved = false;
    const { reach } = this.extent;
    const middle = this.whole.getCenter(new Vector3());
    const target = craftPosition(this.chosen);
    const size = this.chosen.shape.size * this.scale;
    const direction = CAMERA_DIRECTIONS[mode].clone().normalize();
    if (mode === "follow") {
      this.target.copy(target);
      this.controls.target.copy(target);
      this.camera.position.copy(target).addScaledVector(direction, Math.min(Math.max(9 * size, 0.45 * reach), 28 * size));
    } else {
      const distance = fitDistance(this.whole, direction, (this.camera.fov * Math.PI) / 180, this.camera.aspect);
      this.controls.target.copy(middle);
      this.camera.position.copy(middle).addScaledVector(direction, distance);
    }
    this.controls.enableRotate = mode !== "top";
    this.controls.update();
  }

  private shift(by: Vector3): void {
    this.camera.position.add(by);
    this.controls.target.add(by);
    this.target.add(by);
  }

  // Heard before the camera's own listeners would turn the scene.
  private makeDrag(): Drag {
    return new Drag(
      {
        canvas: this.renderer.domElement,
        camera: this.camera,
        scene: this.scene,
        nearest: (x, y) => this.nearest(x, y),
        target: () => this.controls.target.clone(),
        hold: (on) => (this.controls.enabled = !on),
        changed: () => this.onDrag?.(),
      },
      this.box,
    );
  }

  private listenForPicks(): void {
    const canvas = this.renderer.domElement;
    let down = { x: 0, y: 0 };
    canvas.addEventListener("pointerdown", (event) => (down = { x: event.clientX, y: event.clientY }));
    canvas.addEventListener("pointerup", (event) => {
      if (Math.hypot(event.clientX - down.x, event.clientY - down.y) > 4) return;
      const craft = this.nearest(event.clientX, event.clientY);
      if (craft) this.onPick?.(craft.drone);
    });
  }

  // The drone drawn within a finger's breadth of a point of the screen.
  private nearest(x: number, y: number): Craft | undefined {
    const box = this.renderer.domElement.getBoundingClientRect();
    let best = 24;
    let found: Craft | undefined;
    for (const craft of this.fleet.crafts) {
      const point = craftPosition(craft).project(this.camera);
      if (point.z > 1) continue;
      const apart = Math.hypot(((point.x + 1) / 2) * box.width + box.left - x, ((1 - point.y) / 2) * box.height + box.top - y);
      if (apart < best) [best, found] = [apart, craft];
    }
    return found;
  }

  paint(theme: Theme): void {
    this.theme = theme;
    this.scene.background = new Color(theme.sky);
    const far = this.whole.getSize(new Vector3()).length();
    this.scene.fog = new Fog(theme.sky, 3 * far, 12 * far);
    this.sky.paint(theme);
    this.paths.paint(theme);
    this.ghost.paint(theme);
    this.wind.paint(theme);
    this.ground.paint(theme);
    this.fleet.paint(theme);
    this.joints.paint(theme);
    this.jets.paint(theme);
    this.sight.paint(theme);
    this.obstacles.paint(theme);
    this.arrows.paint(theme);
    this.drag.paint(theme);
    for (const trail of this.trailLines) trail.paint(theme);
    for (const touches of this.touches) touches.paint(theme);
    for (const plan of this.plans.values()) plan.material.color.set(theme.faint);
  }

  /// The box has another size; the camera is moved so that all is seen, where `fit` and nobody has moved it.
  resize(fit = true): void {
    const { clientWidth: width, clientHeight: height } = this.box;
    if (width === 0 || height === 0) return;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, RATIOS[this.ratio]));
    this.renderer.setSize(width, height);
    for (const trail of this.trailLines) trail.resize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (fit && !this.moved && this.mode !== "follow") this.setMode(this.mode);
  }

  /// Tell how long the last frame took [ms] while playing, 0 when nothing moves: what is slow is drawn coarser.
  pace(interval: number): void {
    let ratio = this.ratio;
    if (interval === 0) ratio = 0;
    else if (interval < SLOW_FRAME) this.slow = 0;
    else if (++this.slow > 4) ratio = Math.min(this.ratio + 1, RATIOS.length - 1);
    if (ratio === this.ratio) return;
    this.ratio = ratio;
    this.slow = 0;
    this.fleet.bare = ratio === RATIOS.length - 1;
    this.resize();
  }

  /// Wait until what was drawn is there: shaders are made in another process, and the first picture takes long without a graphics card.
  finish(): void {
    const gl = this.renderer.getContext();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  }

  draw(time: number): void {
    this.fleet.move(time);
    if (this.mode === "follow") this.shift(craftPosition(this.chosen).sub(this.target));
    this.controls.update();
    this.camera.updateMatrixWorld();
    this.sky.follow(this.camera.position);
    const scale = this.scale;
    const all = this.fleet.crafts.length <= SMOOTH_MAX;
    this.fleet.draw(time, this.chosen, this.camera, scale, (point) => this.obstacles.below(point, this.floor, all));
    this.obstacles.clear(this.camera.position, [craftPosition(this.chosen), ...this.fleet.crafts.slice(0, CLEARED_DRONES_MAX).map(craftPosition)]);
    this.joints.update(scale, this.floor);
    this.jets.update(time, scale);
    this.sight.update(time, scale, this.rays);
    for (const trails of this.trailLines) trails.update(time, this.chosen.drone.name, this.trails);
    for (const touches of this.touches) touches.update(time, this.chosen.shape.size * scale, this.contacts);
    this.arrows.update(this.chosen, time, scale);
    this.ghost.update(this.chosen, time, scale);
    this.wind.update(time);
    this.labels.update(this.fleet.crafts, this.chosen, this.camera, scale, this.box.clientWidth, this.box.clientHeight);
    this.renderer.render(this.scene, this.camera);
    if (this.replaced.length > 0) this.letGo();
  }
}

// Below all flights; where they are far above zero, below them.
function floorOf({ box, reach }: Extent): number {
  return box.min.z < 4 * reach + 1 ? Math.min(0, box.min.z) : box.min.z - 0.1 * reach;
}
