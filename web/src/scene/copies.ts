// copies.ts - many copies of one shape in one call, each with a place and a colour of its own.
//
// They are no instances: where no graphics card helps, each instance is drawn as if by a call of its own, which costs more than all its
// triangles. Here the shape is repeated in one buffer; each vertex knows its copy, whose matrix and colour are in a texture.
import { BufferAttribute, BufferGeometry, type Color, DataTexture, FloatType, type Material, type Matrix4, Mesh, RGBAFormat } from "three";

const TEXELS = 4; // of a copy: the rows of its matrix, and its colour
const COPIES_PER_ROW = 64; // copies in a row of the texture

// What the renderer's shaders do with an instance they do with a copy.
const READ_COPY = `
#define USE_INSTANCING
#define USE_INSTANCING_COLOR
attribute float copy;
uniform highp sampler2D copies;
mat4 instanceMatrix;
vec3 instanceColor;
void readCopy() {
  int i = int(copy);
  ivec2 at = ivec2(${TEXELS} * (i % ${COPIES_PER_ROW}), i / ${COPIES_PER_ROW});
  vec4 x = texelFetch(copies, at, 0), y = texelFetch(copies, at + ivec2(1, 0), 0), z = texelFetch(copies, at + ivec2(2, 0), 0);
  instanceMatrix = mat4(x.x, y.x, z.x, 0.0, x.y, y.y, z.y, 0.0, x.z, y.z, z.z, 0.0, x.w, y.w, z.w, 1.0);
  instanceColor = texelFetch(copies, at + ivec2(3, 0), 0).rgb;
}
`;

export class Copies<M extends Material = Material> extends Mesh<BufferGeometry, M> {
  private readonly values: Float32Array<ArrayBuffer>;
  private readonly texture: DataTexture;
  private readonly indices: number; // of one copy
  private used: number;

  /// `room` copies of `shape` in a material that no other mesh has. All of them are drawn until count is set.
  constructor(private readonly shape: BufferGeometry, material: M, private readonly room: number) {
    super(new BufferGeometry(), material);
    const vertices = shape.getAttribute("position").count;
    const index = shape.index ? shape.index.array : Array.from({ length: vertices }, (_, i) => i);
    const rows = Math.max(1, Math.ceil(room / COPIES_PER_ROW));
    const repeated = new Uint32Array(room * index.length);
    const copy = new Float32Array(room * vertices);
    for (let i = 0; i < room; ++i) {
      for (let k = 0; k < index.length; ++k) repeated[i * index.length + k] = index[k] + i * vertices;
      copy.fill(i, i * vertices, (i + 1) * vertices);
    }
    this.geometry.setIndex(new BufferAttribute(repeated, 1));
    this.geometry.setAttribute("copy", new BufferAttribute(copy, 1));
    for (const name of ["position", "normal", "color"]) this.repeat(name);
    this.indices = index.length;
    this.used = room;
    this.values = new Float32Array(rows * COPIES_PER_ROW * TEXELS * 4).fill(1);
    this.texture = new DataTexture(this.values, COPIES_PER_ROW * TEXELS, rows, RGBAFormat, FloatType);
    this.texture.needsUpdate = true;
    this.frustumCulled = false; // copies are anywhere
    material.onBeforeCompile = (shader) => {
      shader.uniforms.copies = { value: this.texture };
      shader.vertexShader = READ_COPY + shader.vertexShader.replace("void main() {", "void main() {\n  readCopy();");
    };
    material.addEventListener("dispose", () => this.texture.dispose());
  }

  /// The shape has this attribute, or has it anew.
  repeat(name: string): void {
    const source = this.shape.getAttribute(name) as BufferAttribute | undefined;
    if (!source) return;
    const repeated = new Float32Array(this.room * source.array.length);
    for (let i = 0; i < this.room; ++i) repeated.set(source.array, i * source.array.length);
    this.geometry.setAttribute(name, new BufferAttribute(repeated, source.itemSize));
  }

  setMatrixAt(i: number, { elements: m }: Matrix4): void {
    const { values, texture } = this;
    for (let row = 0, at = 4 * TEXELS * i; row < 3; ++row, at += 4) {
      values[at] = m[row];
      values[at + 1] = m[4 + row];
      values[at + 2] = m[8 + row];
      values[at + 3] = m[12 + row];
    }
    texture.needsUpdate = true;
  }

  /// A shape without a colour of its own has this one only if its material has vertex colours.
  setColorAt(i: number, color: Color): void {
    color.toArray(this.values, 4 * TEXELS * i + 12);
    this.texture.needsUpdate = true;
  }

  get count(): number {
    return this.used;
  }

  /// So many are drawn.
  set count(count: number) {
    this.used = count;
    this.visible = count > 0;
    this.geometry.setDrawRange(0, count * this.indices);
  }
}
