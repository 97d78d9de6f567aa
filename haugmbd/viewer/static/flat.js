// Without WebGL: the same scene as lines, from where the eye is at first.

class FlatPicture {
  constructor(world) {
    this.world = world;
    const box = world.stage.appendChild(Object.assign(document.createElement("div"), { id: "fallback" }));
    const said = box.appendChild(Object.assign(document.createElement("p"), { className: "plain" }));
    said.textContent = "This browser shows no WebGL, so the mechanism is drawn as lines; bodies, time and curves are the same.";
    this.svg = element("svg", { id: "flat" }, world.stage);
    this.made = [];
    for (const body of world.bodies) for (const shape of world.data.bodies[body.index].shapes) this.made.push(this.line(body, shape));
    for (const line of world.data.loads.flatMap(({ lines }) => lines || [])) this.made.push({ body: world.bodies[line.body], points: limitPoints(line, world.g).map((point) => point.toArray()), mark: element("polyline", { fill: "none", stroke: line.pointer ? DRIVE : SPRING, "stroke-width": 1.5 }, this.svg) });
    const held = [...world.joints.flatMap(({ links, material }) => links.map((one) => ({ ...one, material }))), ...world.loads.filter(({ object }) => object)];
    this.lines = held.map((ends) => ({ ends, mark: element("line", { class: "held", "stroke-width": ends.material ? 2.5 : 1.5, stroke: "var(--soft)" }, this.svg) }));
    this.joints = world.joints.map((joint) => ({ joint, mark: element("circle", { r: 5, fill: "var(--card)", stroke: "var(--ink)", "stroke-width": 2 }, this.svg) }));
  }

  // The middle line of a shape, or its outline.
  line(body, shape) {
    if (shape.kind === "plate") {
      const points = [];
      for (let k = 0; k < shape.vertices.length / 2; k += 3) points.push(shape.vertices.slice(k, k + 3));
      return { body, points, closed: true, mark: element("polygon", { fill: body.color, "fill-opacity": 0.25, stroke: body.color, "stroke-width": 2 }, this.svg) };
    }
    if (shape.kind === "mesh") {  // the edges of the box around it, as one line
      const at = (corner) => [0, 1, 2].map((a) => shape.size[a] * (corner >> a & 1 ? shape.high[a] : shape.low[a]));
      const points = [0, 1, 3, 2, 0, 4, 5, 1, 5, 7, 3, 7, 6, 2, 6, 4].map((corner) => new THREE.Vector3(...at(corner)).applyQuaternion(asQuaternion(shape.p)).add(new THREE.Vector3(...shape.r)).toArray());
      return { body, points, mark: element("polyline", { fill: "none", stroke: shape.color || body.color, "stroke-width": 1.5 }, this.svg) };
    }
    const along = shape.size.indexOf(Math.max(...shape.size)), half = 0.5 * shape.size[along], width = [...shape.size].sort((a, b) => a - b)[1];
    const ends = [-half, half].map((s) => new THREE.Vector3().setComponent(along, s).applyQuaternion(asQuaternion(shape.p)).add(new THREE.Vector3(...shape.r)).toArray());
    return { body, width, points: shape.kind === "sphere" ? [shape.r, shape.r] : ends, mark: element("polyline", { fill: "none", stroke: shape.color || body.color, "stroke-linecap": shape.kind === "sphere" ? "round" : "butt" }, this.svg) };
  }

  draw() {
    const { world } = this, O = new THREE.Vector3();
    if (!this.axes) this.axes = world.inset.marks.map(({ color, end }) => ({ end, mark: element("line", { stroke: color, "stroke-width": 3 }, this.svg) }));
    for (const { end, mark } of this.axes) [["1", O], ["2", end]].forEach(([k, point]) => { const [x, y] = world.inset.pixels(point); mark.setAttribute(`x${k}`, x); mark.setAttribute(`y${k}`, y); });
    const pixel = world.height / (2 * Math.tan(world.camera.fov * Math.PI / 360) * world.camera.position.distanceTo(new THREE.Vector3(...world.data.view.center)));
    for (const { width, mark } of this.made) if (width) mark.setAttribute("stroke-width", Math.max(2, width * pixel).toFixed(1));
    for (const { body, points, mark } of this.made) mark.setAttribute("points", points.map((s) => world.pixels(world.now(body.index, s)).slice(0, 2).map((x) => x.toFixed(1)).join(",")).join(" "));
    for (const { ends, mark } of this.lines) {
      const { i, s_i, j, s_j, material } = ends;
      [[1, i, s_i], [2, j, s_j]].forEach(([k, body, s]) => { const [x, y] = world.pixels(world.now(body, s)); mark.setAttribute(`x${k}`, x.toFixed(1)); mark.setAttribute(`y${k}`, y.toFixed(1)); });
      mark.setAttribute("visibility", ends.object && !ends.object.visible ? "hidden" : "visible");
      if (material) mark.setAttribute("stroke", `#${material.color.getHexString("srgb")}`);
    }
    for (const { joint, mark } of this.joints) {
      const [x, y] = world.pixels(world.anchor({ joint }));
      mark.setAttribute("visibility", joint.hidden ? "hidden" : "visible");
      mark.setAttribute("cx", x.toFixed(1)); mark.setAttribute("cy", y.toFixed(1));
      mark.setAttribute("fill", `#${joint.material.color.getHexString("srgb")}`);
    }
  }
}
