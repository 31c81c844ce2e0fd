// drag.ts - a push or a gust aimed in the scene: from a drone, or from anywhere else, along the pointer's way.
import { Color, Plane, Raycaster, Scene, Vector2, Vector3, type PerspectiveCamera } from "three";
import type { Drone } from "../data/run";
import type { Theme } from "../ui/theme";
import { Arrow } from "./arrows";
import { craftPosition, type Craft } from "./fleet";

const PER_WEIGHT = 160; // pixels that are as much as the drone's weight
const PER_SPEED = 20; // pixels that are 1 m/s of a gust
const CLICK_PIXELS = 8; // pixels: less is a click

/// What the scene lends it.
export interface DragHost {
  canvas: HTMLCanvasElement;
  camera: PerspectiveCamera;
  scene: Scene;
  nearest(x: number, y: number): Craft | undefined;
  target(): Vector3; // what the camera looks at
  hold(on: boolean): void; // the camera stays
  changed(): void;
}

export class Drag {
  enabled = false; // there is a flight to disturb
  always = false; // without Shift
  onPush?: (drone: Drone, share: [number, number, number]) => void; // of its weight
  onGust?: (velocity: [number, number, number]) => void; // [m/s]
  words?: (drone: Drone | undefined, amount: number) => string;
  private readonly arrow: Arrow;
  private readonly label = document.createElement("span");
  private craft?: Craft;
  private pointer = -1;
  private from = { x: 0, y: 0 };
  private start = new Vector3();
  private readonly plane = new Plane();
  private along = new Vector3(); // a unit vector
  private pixels = 0;

  constructor(private readonly host: DragHost, box: HTMLElement) {
    this.arrow = new Arrow(host.scene);
    this.label.className = "label on drag-label";
    this.label.hidden = true;
    box.append(this.label);
    const { canvas } = host;
    canvas.addEventListener("pointerdown", (event) => this.begin(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.move(event), { capture: true });
    canvas.addEventListener("pointerup", (event) => this.end(event, true), { capture: true });
    canvas.addEventListener("pointercancel", (event) => this.end(event, false), { capture: true });
    window.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.pointer >= 0) this.stop();
    });
  }

  get active(): boolean {
    return this.pointer >= 0;
  }

  paint(theme: Theme): void {
    this.arrow.paint(new Color(theme.lines[0]));
  }

  private begin(event: PointerEvent): void {
    if (!this.enabled || this.pointer >= 0 || event.button !== 0 || !(event.shiftKey || this.always)) return;
    this.pointer = event.pointerId;
    this.host.canvas.setPointerCapture(event.pointerId);
    this.from = { x: event.clientX, y: event.clientY };
    this.craft = this.host.nearest(event.clientX, event.clientY);
    this.pixels = 0;
    // A push goes along the picture; a gust along the ground.
    const viewDirection = this.host.camera.getWorldDirection(new Vector3());
    this.start = this.craft ? craftPosition(this.craft) : this.host.target();
    this.plane.setFromNormalAndCoplanarPoint(this.craft ? viewDirection : new Vector3(0, 0, 1), this.start);
    this.start = this.pointOf(event) ?? this.start;
    this.host.hold(true);
    event.stopImmediatePropagation();
  }

  private pointOf(event: PointerEvent): Vector3 | undefined {
    const box = this.host.canvas.getBoundingClientRect();
    const screenPoint = new Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    const ray = new Raycaster();
    ray.setFromCamera(screenPoint, this.host.camera);
    return ray.ray.intersectPlane(this.plane, new Vector3()) ?? undefined;
  }

  private move(event: PointerEvent): void {
    if (event.pointerId !== this.pointer) return;
    event.stopImmediatePropagation();
    this.pixels = Math.hypot(event.clientX - this.from.x, event.clientY - this.from.y);
    const displacement = this.pointOf(event)?.sub(this.start);
    if (this.pixels < CLICK_PIXELS || !displacement || displacement.length() === 0) {
      this.arrow.hide();
      this.label.hidden = true;
    } else {
      this.arrow.show(this.start, displacement, displacement.length() / Math.max(this.pixels, 1) * 3);
      this.along = displacement.normalize();
      this.label.hidden = false;
      this.label.textContent = this.words?.(this.craft?.drone, this.amount) ?? "";
      const box = this.host.canvas.getBoundingClientRect();
      this.label.style.transform = `translate(${event.clientX - box.left + 14}px, ${event.clientY - box.top - 8}px)`;
    }
    this.host.changed();
  }

  private get amount(): number {
    return this.pixels / (this.craft ? PER_WEIGHT : PER_SPEED);
  }

  private end(event: PointerEvent, isReleased: boolean): void {
    if (event.pointerId !== this.pointer) return;
    event.stopImmediatePropagation();
    const isAimed = isReleased && this.pixels >= CLICK_PIXELS && !this.label.hidden;
    const vector = this.along.clone().multiplyScalar(this.amount).toArray() as [number, number, number];
    const { craft } = this;
    this.stop();
    if (!isAimed) return;
    if (craft) this.onPush?.(craft.drone, vector);
    else this.onGust?.(vector);
  }

  private stop(): void {
    this.pointer = -1;
    this.arrow.hide();
    this.label.hidden = true;
    this.host.hold(false);
    this.host.changed();
  }
}
