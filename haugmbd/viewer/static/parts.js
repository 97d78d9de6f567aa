// What bodies, joints, springs and arrows look like.  Lengths in metres; g is the glyph unit, a fortieth of the mechanism or less.

const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7570b3", "#66a61e", "#a6761d", "#8c8c8c"];
const FORCE = "#c2185b", TORQUE = "#7b3fb5", DRIVE = "#e8710a", SPRING = "#5f7d95", GHOST = "#e8710a", LOCKED = "#f08c00";
const LEAST_VIOLATION = -15, MOST_VIOLATION = -3;

const UNIT = {
  box: new THREE.BoxGeometry(1, 1, 1),
  cylinder: new THREE.CylinderGeometry(0.5, 0.5, 1, 32).rotateX(Math.PI / 2),
  cone: new THREE.ConeGeometry(0.5, 1, 28).rotateX(Math.PI / 2),
  sphere: new THREE.SphereGeometry(0.5, 28, 18),
  octahedron: new THREE.OctahedronGeometry(0.5),
  pyramid: new THREE.ConeGeometry(0.5, 1, 4).rotateX(Math.PI / 2),
};

const paint = (color, more = {}) => new THREE.MeshStandardMaterial({ color, roughness: 0.62, metalness: 0.05, ...more });

const faint = (color, opacity, more = {}) => paint(color, { side: THREE.DoubleSide, ...more, transparent: true, opacity, depthWrite: false });

function solid(kind, x, y, z, material) {
  const mesh = new THREE.Mesh(UNIT[kind], material);
  mesh.scale.set(x, y, z);
  return mesh;
}

const setPose = (object, r, p) => { object.position.fromArray(r); object.quaternion.set(p[1], p[2], p[3], p[0]); return object; };

// A cylinder with a hole, along z, of diameter 1 and length 1.
function tube(inner) {
  const r = 0.5 * inner, rim = [[r, -0.5], [0.5, -0.5], [0.5, 0.5], [r, 0.5], [r, -0.5]].map(([x, y]) => new THREE.Vector2(x, y));
  return new THREE.LatheGeometry(rim, 40).rotateX(Math.PI / 2).toNonIndexed();
}

function triangleGeometry(vertices, triangles) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(vertices), 3));
  geometry.setIndex(triangles instanceof Uint32Array ? new THREE.BufferAttribute(triangles, 1) : triangles);
  return geometry;
}

// The meshes of a page: each one is on the graphics card once.
class Meshes {
  constructor(bytes, packed) { Object.assign(this, { bytes, packed, made: [] }); }
  geometry(k) {
    if (!this.made[k]) {
      const { vertices, triangles } = this.packed[k];
      this.made[k] = triangleGeometry(this.together(vertices, Float32Array), this.together(triangles, Uint32Array));
    }
    return this.made[k];
  }
  together(packed, Kind) {
    const apart = channels(this.bytes, packed), n = packed.n, out = new Kind(3 * n);
    for (let k = 0; k < n; k++) for (let a = 0; a < 3; a++) out[3 * k + a] = apart[a * n + k];
    return out;
  }
}

// What a shape looks like in a colour; materials of one body are made once.
function shapeMesh(shape, own, meshes) {
  const flat = ["mesh", "plate", "tube"].includes(shape.kind), sheet = shape.kind === "plate" || shape.clear;
  const key = `${shape.color || ""} ${flat} ${sheet}`, more = flat ? { flatShading: true, side: THREE.DoubleSide } : {};
  if (!own.made[key]) own.made[key] = own.opacity ? faint(own.color, own.opacity, { ...more, roughness: 0.8 }) : sheet ? faint(shape.color || own.color, shape.clear ? 0.5 : 0.45, more) : paint(shape.color || own.color, more);
  const material = own.made[key];
  if (shape.kind === "plate") return new THREE.Mesh(triangleGeometry(shape.vertices, shape.triangles), material);
  const geometry = shape.kind === "mesh" ? meshes.geometry(shape.mesh) : shape.kind === "tube" ? tube(shape.inner) : UNIT[shape.kind];
  const mesh = new THREE.Mesh(geometry, material);
  mesh.scale.fromArray(shape.size);
  return setPose(mesh, shape.r, shape.p);
}

// The two halves of a joint, in its frames on body i and on body j: h is z.  reach: [least, most] of the sliding along h.
function jointGlyph(glyph, g, reach, metal, drive) {
  const i = new THREE.Group(), j = new THREE.Group();
  const rail = (width, make) => {
    const length = reach[1] - reach[0] + 7 * g, bar = make(width, length);
    bar.position.z = 0.5 * (reach[0] + reach[1]);
    i.add(bar);
  };
  const round = (width, length) => solid("cylinder", width, width, length, metal);
  const square = (width, length) => solid("box", width, width, length, metal);
  if (glyph === "revolute") { i.add(round(2 * g, 2 * g)); j.add(round(1.1 * g, 3.4 * g)); }
  else if (glyph === "cylindrical") { rail(0.8 * g, round); j.add(round(2.1 * g, 3 * g)); }
  else if (glyph === "translational") { rail(0.8 * g, square); j.add(solid("box", 2.3 * g, 2.3 * g, 3.6 * g, metal)); }
  else if (glyph === "spherical") { j.add(solid("sphere", 2.3 * g, 2.3 * g, 2.3 * g, metal)); i.add(ring(1.25 * g, 0.28 * g, metal)); }
  else if (glyph === "universal") {
    const arm = round(0.8 * g, 4 * g), other = round(0.8 * g, 4 * g);
    arm.rotation.y = Math.PI / 2; other.rotation.x = Math.PI / 2;
    i.add(arm); j.add(other, solid("sphere", 1.4 * g, 1.4 * g, 1.4 * g, metal));
  }
  else if (glyph === "planar") { i.add(solid("box", 9 * g, 9 * g, 0.2 * g, faint(metal.color, 0.35))); j.add(round(3 * g, 0.7 * g)); }
  else if (glyph === "point in plane") { i.add(solid("box", 9 * g, 9 * g, 0.2 * g, faint(metal.color, 0.35))); j.add(solid("sphere", 1.8 * g, 1.8 * g, 1.8 * g, metal)); }
  else if (glyph === "point on line") { rail(0.6 * g, round); j.add(solid("sphere", 1.9 * g, 1.9 * g, 1.9 * g, metal)); }
  else if (glyph === "fixed") { j.add(solid("box", 1.9 * g, 1.9 * g, 1.9 * g, metal)); }
  else if (glyph === "distance") { i.add(solid("sphere", 1.3 * g, 1.3 * g, 1.3 * g, metal)); j.add(solid("sphere", 1.3 * g, 1.3 * g, 1.3 * g, metal)); }
  else if (glyph === "revolute-spherical") { i.add(round(1.6 * g, 2.6 * g)); j.add(solid("sphere", 1.7 * g, 1.7 * g, 1.7 * g, metal)); }
  else if (glyph === "coupling") { i.add(ring(1.9 * g, 0.25 * g, metal)); j.add(ring(1.9 * g, 0.25 * g, metal)); }
  else if (glyph === "rolling") { j.add(round(1.6 * g, 1.6 * g)); }
  else if (glyph === "rotation driver") { const sweep = turnArrow(2.1 * g, 0.3 * g, drive); sweep.position.z = 2.3 * g; i.add(sweep); }
  else if (glyph === "translation driver") {
    for (const side of [-1, 1]) {
      const head = solid("cone", 1.7 * g, 1.7 * g, 1.8 * g, drive);
      head.position.set(0, 2.2 * g, side * 2.2 * g);
      head.rotation.x = side > 0 ? 0 : Math.PI;
      j.add(head);
    }
    const shaft = solid("cylinder", 0.6 * g, 0.6 * g, 3.4 * g, drive);
    shaft.position.y = 2.2 * g;
    j.add(shaft);
  }
  else if (glyph === "none") return { i, j };
  else if (glyph === "orientation") { i.add(ring(1.5 * g, 0.2 * g, metal)); j.add(solid("octahedron", 1.4 * g, 1.4 * g, 1.4 * g, metal)); }
  else { i.add(solid("octahedron", 1.5 * g, 1.5 * g, 1.5 * g, metal)); j.add(solid("octahedron", 2 * g, 2 * g, 2 * g, metal)); }
  return { i, j };
}

const ring = (radius, thick, material) => new THREE.Mesh(new THREE.TorusGeometry(radius, thick, 10, 40), material);

function turnArrow(radius, thick, material) {
  const group = new THREE.Group(), sweep = 1.5 * Math.PI;
  group.add(new THREE.Mesh(new THREE.TorusGeometry(radius, thick, 10, 40, sweep), material));
  const head = solid("cone", 4 * thick, 4 * thick, 4.5 * thick, material);
  head.position.set(radius * Math.cos(sweep), radius * Math.sin(sweep), 0);
  head.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3(-Math.sin(sweep), Math.cos(sweep), 0));
  group.add(head);
  return group;
}

// A support on the ground below (or above) a joint: its tip is the origin, it stands along -z.
function support(g, material) {
  const group = new THREE.Group(), cone = solid("pyramid", 3.4 * g, 3.4 * g, 2.4 * g, material), base = solid("box", 4.2 * g, 4.2 * g, 0.4 * g, material);
  cone.position.z = -1.2 * g; base.position.z = -2.6 * g; cone.rotation.z = Math.PI / 4;
  group.add(cone, base);
  return group;
}

// Something between two points: along z from 0 to 1, to be stretched by `span`.
function spring(g, { k, c }, material, drive) {
  const group = new THREE.Group();
  if (k > 0) {
    const points = [], coils = 9, radius = 1.25 * g;
    for (let n = 0; n <= 16 * coils; n++) {
      const s = n / (16 * coils), edge = Math.min(1, 12 * Math.min(s, 1 - s));
      points.push(new THREE.Vector3(edge * radius * Math.cos(2 * Math.PI * coils * s), edge * radius * Math.sin(2 * Math.PI * coils * s), s));
    }
    group.add(new THREE.Mesh(new THREE.TubeGeometry(new THREE.CatmullRomCurve3(points), 20 * coils, 0.22 * g, 6), material));
  }
  if (c > 0 || !(k > 0)) {
    const color = c > 0 ? material : drive, barrel = solid("cylinder", 1.5 * g, 1.5 * g, 0.5, color), piston = solid("cylinder", 0.5 * g, 0.5 * g, 1, color);
    barrel.position.z = 0.3; piston.position.z = 0.5;
    if (k > 0) { barrel.scale.x = barrel.scale.y = 1.0 * g; }
    group.add(barrel, piston);
  }
  return group;
}

// The points of a line of a limit, body frame: metres, and glyph units.
const limitPoints = ({ along, out }, g) => Array.from({ length: along.length / 3 }, (_, k) => new THREE.Vector3(...[0, 1, 2].map((a) => along[3 * k + a] + g * out[3 * k + a])));

function limitLine(line, g, material) {
  const group = new THREE.Group(), points = limitPoints(line, g);
  for (let k = 1; k < points.length; k++) { const piece = rod(0.3 * g, material); span(piece, points[k - 1], points[k]); group.add(piece); }
  return group;
}

const rod = (width, material) => { const bar = solid("cylinder", width, width, 1, material), group = new THREE.Group(); bar.position.z = 0.5; group.add(bar); return group; };

const Z = new THREE.Vector3(0, 0, 1), SPAN = new THREE.Vector3();

// Put an object whose length is z = 0 .. 1 between two points.
function span(object, from, to) {
  SPAN.subVectors(to, from);
  const length = SPAN.length();
  object.visible = length > 0;
  if (!object.visible) return;
  object.position.copy(from);
  object.quaternion.setFromUnitVectors(Z, SPAN.divideScalar(length));
  object.scale.set(1, 1, length);
}

// An arrow from its origin along z; hatched: in pieces, for what is not unique; over: seen through bodies, drawn after them.
class Arrow extends THREE.Group {
  constructor(width, color, { hatched = false, heads = 1, over = false } = {}) {
    super();
    const material = paint(color, over ? { roughness: 0.5, transparent: true, depthTest: false, depthWrite: false } : { roughness: 0.5 });
    this.width = width;
    this.pieces = hatched ? 4 : 1;
    this.shafts = Array.from({ length: this.pieces }, () => solid("cylinder", width, width, 1, material));
    this.heads = Array.from({ length: heads }, () => solid("cone", 3 * width, 3 * width, 4 * width, material));
    this.add(...this.shafts, ...this.heads);
    if (over) this.traverse((mesh) => { mesh.renderOrder = 2; });
  }
  show(from, direction, length) {
    this.visible = length > 0.5 * this.width;
    if (!this.visible) return;
    const head = Math.min(4 * this.width, 0.5 * length), shaft = Math.max(length - head * this.heads.length * 0.8, 1e-9 * length), n = this.pieces;
    this.position.copy(from);
    this.quaternion.setFromUnitVectors(Z, direction);
    this.shafts.forEach((mesh, k) => {
      const part = n === 1 ? 1 : 0.6;
      mesh.scale.z = part * shaft / n;
      mesh.position.z = (k + 0.5) * shaft / n;
    });
    this.heads.forEach((mesh, k) => { mesh.scale.z = head; mesh.position.z = length - head * (0.5 + 0.8 * k); });
  }
}

// The colour of a violation, by its logarithm: blue is rounding, yellow is drift, red is a joint that does not hold.
function violationColor(log, color = new THREE.Color()) {
  const s = Math.min(Math.max((log - LEAST_VIOLATION) / (MOST_VIOLATION - LEAST_VIOLATION), 0), 1);
  const stops = [[0.13, 0.4, 0.67], [0.2, 0.64, 0.68], [0.55, 0.78, 0.45], [0.98, 0.8, 0.22], [0.93, 0.45, 0.13], [0.78, 0.08, 0.12]];
  const at = s * (stops.length - 1), k = Math.min(Math.floor(at), stops.length - 2), w = at - k;
  return color.setRGB(...[0, 1, 2].map((a) => (1 - w) * stops[k][a] + w * stops[k + 1][a]), "srgb");
}
