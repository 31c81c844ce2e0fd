// obstacles.ts - what stands in the way, and the ground: drawn once, and asked how high it is below a drone.
import { Box3, BufferAttribute, BufferGeometry, Color, EdgesGeometry, LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshBasicMaterial, MeshLambertMaterial, PlaneGeometry, Quaternion, Ray, Raycaster, Scene, Vector3 } from "three";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";
import type { ObstacleInfo } from "../data/embedded";
import type { Run } from "../data/run";
import type { Theme } from "../ui/theme";
import { geometryOf, Surface } from "./solids";

/// The ground at a place: a point of it and its normal.
export interface GroundPoint {
  height: number; // [m]
  normal: Vector3;
}

const EDGE_ANGLE = 25; // [deg] sharper bends of a surface are drawn as lines
const UP = new Vector3(0, 0, 1);
const DOWN = new Vector3(0, 0, -1);
const CLEARABLE_MAX = 100; // obstacles up to which each can become clear by itself
const PLANE_SIDE = 40; // a tilted plane is drawn so many times the flight's reach wide
export const SHADOW_LEAN = new Vector3(0.18, -0.28, -1); // the light comes from the south-west, high

function placeOf(info: ObstacleInfo): Matrix4 {
  const [w, x, y, z] = info.attitude;
  const rotation = new Quaternion(x, y, z, w);
  if (!(rotation.lengthSq() > 0)) rotation.identity();
  const [px, py, pz] = info.position;
  return new Matrix4().compose(new Vector3(px, py, pz), rotation.normalize(), new Vector3(1, 1, 1));
}

// Only what merging needs, so that all are alike.
function toMergeable(geometry: BufferGeometry): BufferGeometry {
  const geometryOnly = geometry.index ? geometry.toNonIndexed() : geometry;
  for (const name of Object.keys(geometryOnly.attributes)) if (name !== "position" && name !== "normal") geometryOnly.deleteAttribute(name);
  return geometryOnly;
}

export class Obstacles {
  /// Height of the flat ground, when the scenario declares one.
  readonly level?: number;
  readonly count: number; // of what is drawn
  readonly box = new Box3(); // around all of it but planes
  private readonly surfaces: { surface: Surface; toWorld: Matrix4; toOwn: Matrix4 }[] = [];
  private readonly block?: Mesh<BufferGeometry, MeshLambertMaterial[]>;
  private readonly boxes: Box3[] = []; // of each solid in it
  private readonly edges = new LineBasicMaterial();
  private readonly stone = new MeshLambertMaterial();
  private readonly glass = new MeshLambertMaterial({ transparent: true, opacity: 0.22, depthWrite: false }); // what hides a drone
  private readonly earth = new MeshLambertMaterial({ polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
  private readonly shade = new MeshBasicMaterial({ color: 0, transparent: true, depthWrite: false });
  private readonly ray = new Raycaster();

  constructor(private readonly scene: Scene, runs: Run[], reach: number) {
    const knownKeys = new Set<string>();
    const infos: ObstacleInfo[] = [];
    for (const run of runs) {
      if (run.info.planet_radius) continue; // there the scene's frame is not theirs
      for (const info of run.info.obstacles ?? []) {
        const key = JSON.stringify(info);
        if (!knownKeys.has(key)) infos.push(info);
        knownKeys.add(key);
      }
    }
    this.count = infos.length;
    const solid: BufferGeometry[] = [];
    const sharp: BufferGeometry[] = [];
    for (const info of infos) {
      const place = placeOf(info);
      const geometry = geometryOf(info.solid);
      if (geometry) {
        geometry.applyMatrix4(place);
        this.box.union(new Box3().setFromBufferAttribute(geometry.getAttribute("position") as BufferAttribute));
        sharp.push(new EdgesGeometry(geometry, EDGE_ANGLE));
        solid.push(toMergeable(geometry));
      } else if (info.solid.heights) {
        this.addSurface(new Surface(info.solid.heights), place);
      } else if (info.solid.kind === "plane") {
        if (UP.clone().transformDirection(place).z > 1 - 1e-9) this.level = Math.max(this.level ?? -Infinity, info.position[2]);
        else this.addPlane(place, reach);
      }
    }
    if (solid.length === 0) return;
    this.boxes.push(...solid.map((geometry) => new Box3().setFromBufferAttribute(geometry.getAttribute("position") as BufferAttribute)));
    this.block = new Mesh(mergeGeometries(solid, true), [this.stone, this.glass]);
    for (const group of this.block.geometry.groups) group.materialIndex = 0;
    if (solid.length > CLEARABLE_MAX) this.block.geometry.clearGroups(), this.block.geometry.addGroup(0, Infinity, 0);
    scene.add(this.block, new LineSegments(mergeGeometries(sharp), this.edges));
    if (!this.rough) this.addShadows(solid);
  }

  private addSurface(surface: Surface, toWorld: Matrix4): void {
    this.surfaces.push({ surface, toWorld, toOwn: toWorld.clone().invert() });
    const geometry = surface.geometry().applyMatrix4(toWorld);
    this.box.union(new Box3().setFromBufferAttribute(geometry.getAttribute("position") as BufferAttribute));
    this.scene.add(new Mesh(geometry, this.earth), new LineSegments(surface.lines().applyMatrix4(toWorld), this.edges));
  }

  private addPlane(place: Matrix4, reach: number): void {
    const side = PLANE_SIDE * reach;
    this.scene.add(new Mesh(new PlaneGeometry(side, side).applyMatrix4(place), this.earth));
  }

  // On a flat floor each solid casts the outline of its corners; what is hollow is few and far.
  private addShadows(solids: BufferGeometry[]): void {
    const floor = this.level ?? 0;
    const points: number[] = [];
    for (const solid of solids) {
      const outline = hullOf(shadowPoints(solid, floor));
      for (let i = 2; i < outline.length; ++i) for (const [x, y] of [outline[0], outline[i - 1], outline[i]]) points.push(x, y, floor + 1e-3);
    }
    const geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
    const shadow = new Mesh(geometry, this.shade);
    shadow.renderOrder = -1; // after the floor, before what stands on it
    this.scene.add(shadow);
  }

  /// The ground has a shape, and nothing is to be drawn in its place.
  get rough(): boolean {
    return this.surfaces.length > 0;
  }

  get lowest(): number | undefined {
    let low: number | undefined;
    for (const { surface, toWorld } of this.surfaces) low = Math.min(low ?? Infinity, new Vector3(0, 0, surface.lowest).applyMatrix4(toWorld).z);
    return low;
  }

  paint(theme: Theme): void {
    this.stone.color = new Color(theme.stone);
    this.glass.color = new Color(theme.stone);
    this.earth.color = new Color(theme.earth);
    this.edges.color = new Color(theme.groundLineStrong);
    this.shade.opacity = 0.7 * theme.shadow;
  }

  /// What stands between the camera and one of these points becomes clear.
  clear(camera: Vector3, points: Vector3[]): void {
    const groups = this.block?.geometry.groups;
    if (!groups || groups.length !== this.boxes.length) return;
    const rays = points.map((point) => ({ ray: new Ray(camera, point.clone().sub(camera).normalize()), far: point.distanceTo(camera) }));
    const hit = new Vector3();
    groups.forEach((group, i) => {
      const isHiding = rays.some(({ ray, far }) => ray.intersectBox(this.boxes[i], hit) !== null && hit.distanceTo(camera) < 0.99 * far);
      group.materialIndex = isHiding ? 1 : 0;
    });
  }

  /// What lies below a point: terrain, or with `all` also the top of an obstacle; else the floor at `floor`.
  below(point: Vector3, floor: number, all: boolean): GroundPoint {
    let groundPoint: GroundPoint = { height: floor, normal: UP };
    for (const { surface, toWorld, toOwn } of this.surfaces) {
      const own = point.clone().applyMatrix4(toOwn); // upright surfaces are the rule; of a tilted one this is near enough
      const height = surface.height(own.x, own.y);
      if (height === undefined) continue;
      const step = 1e-3;
      const east = surface.height(own.x + step, own.y) ?? height;
      const north = surface.height(own.x, own.y + step) ?? height;
      const normal = new Vector3(height - east, height - north, step).normalize().transformDirection(toWorld);
      groundPoint = { height: new Vector3(own.x, own.y, height).applyMatrix4(toWorld).z, normal };
    }
    if (!all || !this.block) return groundPoint;
    this.ray.set(point, DOWN);
    const hit = this.ray.intersectObject(this.block, false)[0];
    if (hit?.face && hit.point.z > groundPoint.height) groundPoint = { height: hit.point.z, normal: hit.face.normal };
    return groundPoint;
  }
}

function shadowPoints(solid: BufferGeometry, floor: number): [number, number][] {
  const position = solid.getAttribute("position");
  const points: [number, number][] = [];
  for (let i = 0; i < position.count; ++i) {
    const above = Math.max(position.getZ(i) - floor, 0);
    points.push([position.getX(i) + SHADOW_LEAN.x * above, position.getY(i) + SHADOW_LEAN.y * above]);
  }
  return points;
}

/// The convex outline of points, counter-clockwise.
export function hullOf(points: [number, number][]): [number, number][] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const chainOf = (order: [number, number][]) => {
    const chain: [number, number][] = [];
    for (const p of order) {
      while (chain.length > 1) {
        const [a, b] = [chain[chain.length - 2], chain[chain.length - 1]];
        if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
        chain.pop();
      }
      chain.push(p);
    }
    return chain.slice(0, -1);
  };
  return [...chainOf(sorted), ...chainOf(sorted.reverse())];
}
