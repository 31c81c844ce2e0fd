// view.ts - the 3D scene: drones, trails, floor, arrows, and three cameras.
import { BufferAttribute, BufferGeometry, Color, DirectionalLight, Fog, HemisphereLight, LineDashedMaterial, Line, PerspectiveCamera, Scene, Vector3, WebGLRenderer } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { Drone } from "../data/run";
import { originOf } from "../data/motion";
import type { Theme } from "../ui/theme";
import { Arrows, arrowKinds } from "./arrows";
import { craftPosition, Fleet, type Craft } from "./fleet";
import { Ground, roundUp } from "./ground";
import { Jets } from "./jets";
import { Joints } from "./joints";
import { Obstacles } from "./obstacles";
import { Rays } from "./rays";
import { Touches } from "./touches";
import { Trails } from "./trail";

export type CameraMode = "follow" | "orbit" | "top";

const SMOOTH_MAX = 24; // drones up to which edges are smoothed: it costs most where no graphics card helps
const PLANS_MAX = 6; // declared ways that are shown together
const SLOW = 70; // [ms] from frame to frame: beyond, fewer pixels are drawn while it plays
const RATIOS = [2, 1, 0.7, 0.5]; // pixels of the picture per pixel of the page

interface Extent {
  low: Vector3;
  high: Vector3;
  reach: number; // [m] largest side, at least a few body sizes
}

export class View {
  readonly fleet: Fleet;
  readonly arrows: Arrows;
  readonly ground: Ground;
  readonly drawScale: number; // bodies are drawn so many times their size
  mode: CameraMode = "follow";
  trails = true;
  contacts = true;
  rays = true;
  onPick?: (drone: Drone) => void;
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(45, 1, 0.01, 1000);
  private readonly controls: OrbitControls;
  private readonly joints: Joints;
  private readonly jets: Jets;
  private readonly sight: Rays;
  private readonly obstacles: Obstacles;
  private readonly trailLines: Trails[];
  private readonly touches: Touches[];
  private readonly plans = new Map<Craft, Line<BufferGeometry, LineDashedMaterial>>();
  private readonly extent: Extent;
  private readonly floor: number;
  private readonly target = new Vector3();
  private chosen: Craft;
  private ratio = 0; // index into RATIOS
  private slow = 0; // frames in a row

  constructor(private readonly box: HTMLElement, drones: Drone[]) {
    this.renderer = new WebGLRenderer({ antialias: drones.length <= SMOOTH_MAX, powerPreference: "high-performance", preserveDrawingBuffer: false });
    this.renderer.domElement.className = "scene-canvas";
    box.append(this.renderer.domElement);
    this.fleet = new Fleet(this.scene, drones, originOf(drones));
    if (this.fleet.crafts.length === 0) throw new Error("The log does not say where any drone was.");
    this.chosen = this.fleet.crafts[0];
    this.extent = extentOf(this.fleet.crafts);
    const size = Math.max(...this.fleet.crafts.map((craft) => craft.shape.size));
    const runs = [...new Set(drones.map((drone) => drone.run))];
    this.obstacles = new Obstacles(this.scene, runs, this.extent.reach);
    // Beside what it can hit, a drone is as large as it is, as long as it can be seen at all.
    const far = this.obstacles.count > 0 ? 200 : 28;
    this.drawScale = size * far >= this.extent.reach ? 1 : roundUp(this.extent.reach / far / size);
    this.floor = this.obstacles.level ?? this.obstacles.lowest ?? floorOf(this.extent);
    this.ground = new Ground(this.extent.reach, this.floor);
    this.joints = new Joints(this.scene, this.fleet.crafts);
    this.jets = new Jets(this.scene, this.fleet.crafts);
    this.sight = new Rays(this.scene, this.fleet.crafts);
    const flown = runs.map((run) => this.fleet.crafts.filter((craft) => craft.drone.run === run));
    this.trailLines = flown.filter((crafts) => crafts.length > 0).map((crafts) => new Trails(this.scene, crafts));
    this.touches = runs.map((run) => new Touches(this.scene, run));
    this.arrows = new Arrows(this.scene, arrowKinds(drones));
    this.scene.add(this.ground.object, ...this.lights());
    this.addPlans();
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.enableDamping = false;
    this.controls.maxPolarAngle = Math.PI * 0.55;
    this.camera.near = Math.max(this.extent.reach / 5000, 0.005);
    this.camera.far = this.extent.reach * 60;
    this.fleet.move(this.chosen.motion.time[0]);
    this.setMode("follow");
    this.listenForPicks();
  }

  private lights() {
    const sun = new DirectionalLight(0xffffff, 2.0);
    sun.position.set(-0.4, -0.6, 1);
    return [new HemisphereLight(0xffffff, 0x9aa4ad, 1.6), sun];
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
    for (const [craft, line] of this.plans) line.visible = this.plans.size <= PLANS_MAX || craft.drone.name === this.chosen.drone.name;
  }

  /// The log tells of contacts.
  get touched(): boolean {
    return this.fleet.crafts.some((craft) => craft.drone.run.contacts.length > 0);
  }

  /// The log has range finders or lidars.
  get looks(): boolean {
    return this.sight.any;
  }

  get drone(): Drone {
    return this.chosen.drone;
  }

  choose(drone: Drone): void {
    const craft = this.fleet.crafts.find((c) => c.drone === drone);
    if (!craft) return;
    const before = craftPosition(this.chosen);
    this.chosen = craft;
    this.showPlans();
    if (this.mode === "follow") this.shift(craftPosition(craft).sub(before));
  }

  setMode(mode: CameraMode): void {
    this.mode = mode;
    const { low, high, reach } = this.extent;
    const middle = low.clone().add(high).multiplyScalar(0.5);
    const at = craftPosition(this.chosen);
    const size = this.chosen.shape.size * this.drawScale;
    if (mode === "follow") {
      this.target.copy(at);
      this.controls.target.copy(at);
      const far = Math.min(Math.max(9 * size, 0.45 * reach), 28 * size);
      this.camera.position.copy(at).add(new Vector3(-0.75, -0.8, 0.55).normalize().multiplyScalar(far));
    } else if (mode === "orbit") {
      this.controls.target.copy(middle);
      this.camera.position.copy(middle).add(new Vector3(-0.7, -0.9, 0.62).normalize().multiplyScalar(1.6 * reach));
    } else {
      this.controls.target.copy(middle);
      this.camera.position.set(middle.x, middle.y - 1e-4 * reach, middle.z + 1.6 * reach);
    }
    this.controls.enableRotate = mode !== "top";
    this.controls.update();
  }

  private shift(by: Vector3): void {
    this.camera.position.add(by);
    this.controls.target.add(by);
    this.target.add(by);
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
    this.scene.background = new Color(theme.sky);
    this.scene.fog = new Fog(theme.sky, this.extent.reach * 3, this.extent.reach * 16);
    this.ground.paint(theme);
    this.fleet.paint(theme);
    this.joints.paint(theme);
    this.jets.paint(theme);
    this.sight.paint(theme);
    this.obstacles.paint(theme);
    this.arrows.paint(theme);
    for (const trail of this.trailLines) trail.paint(theme);
    for (const touches of this.touches) touches.paint(theme);
    for (const plan of this.plans.values()) plan.material.color.set(theme.faint);
  }

  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.box;
    if (width === 0 || height === 0) return;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, RATIOS[this.ratio]));
    this.renderer.setSize(width, height);
    for (const trail of this.trailLines) trail.resize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  /// Tell how long the last frame took [ms] while playing, 0 when nothing moves: what is slow is drawn coarser.
  pace(interval: number): void {
    let ratio = this.ratio;
    if (interval === 0) ratio = 0;
    else if (interval < SLOW) this.slow = 0;
    else if (++this.slow > 4) ratio = Math.min(this.ratio + 1, RATIOS.length - 1);
    if (ratio === this.ratio) return;
    this.ratio = ratio;
    this.slow = 0;
    this.resize();
  }

  draw(time: number): void {
    this.fleet.move(time);
    if (this.mode === "follow") this.shift(craftPosition(this.chosen).sub(this.target));
    this.controls.update();
    this.camera.updateMatrixWorld();
    const all = this.fleet.crafts.length <= SMOOTH_MAX;
    this.fleet.draw(time, this.chosen, this.camera, this.drawScale, (point) => this.obstacles.below(point, this.floor, all));
    this.joints.update(this.drawScale, this.floor);
    this.jets.update(time, this.drawScale);
    this.sight.update(time, this.drawScale, this.rays);
    for (const trails of this.trailLines) trails.update(time, this.chosen.drone.name, this.trails);
    for (const touches of this.touches) touches.update(time, this.chosen.shape.size * this.drawScale, this.contacts);
    this.arrows.update(this.chosen, time, this.drawScale);
    this.renderer.render(this.scene, this.camera);
  }
}

// Below all flights; where they are far above zero, below them.
function floorOf({ low, reach }: Extent): number {
  return low.z < 4 * reach + 1 ? Math.min(0, low.z) : low.z - 0.1 * reach;
}

function extentOf(crafts: Craft[]): Extent {
  const low = new Vector3(Infinity, Infinity, Infinity);
  const high = new Vector3(-Infinity, -Infinity, -Infinity);
  for (const craft of crafts) {
    craft.motion.position.forEach((values, k) => {
      let [least, most] = [low.getComponent(k), high.getComponent(k)];
      for (const value of values) {
        if (value < least) least = value;
        if (value > most && value < Infinity) most = value;
      }
      low.setComponent(k, Math.max(least, -1e12));
      high.setComponent(k, Math.min(most, 1e12));
    });
  }
  const size = Math.max(...crafts.map((craft) => craft.shape.size));
  const sides = high.clone().sub(low);
  return { low, high, reach: Math.max(sides.x, sides.y, sides.z, 6 * size) };
}

