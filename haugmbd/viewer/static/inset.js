// The axes of the model and the direction of gravity, in a corner of the window; they turn with the mechanism.

const AXIS_COLORS = [["x", "#d8453e"], ["y", "#2f9e44"], ["z", "#3b74d8"]];

class Inset {
  constructor(world) {
    Object.assign(this, { world, scene: new THREE.Scene(), camera: new THREE.PerspectiveCamera(20, 1, 0.1, 100), marks: [] });
  }

  // Arrows of length 1, and their marks: text, colour, and where the text and the arrow's tip are.
  dress(dark) {
    const { scene } = this, G = new THREE.Vector3(...this.world.data.gravity);
    this.marks = [];
    scene.clear();
    scene.add(new THREE.HemisphereLight("#ffffff", "#8d97a3", 3));
    const add = (text, color, ink, direction, width, length, away) => {
      const arrow = new Arrow(width, color), at = (size) => direction.clone().multiplyScalar(size);
      arrow.show(new THREE.Vector3(), direction, length);
      scene.add(arrow);
      this.marks.push({ text, color: ink, point: at(away), end: at(length) });
    };
    AXIS_COLORS.forEach(([text, color], k) => add(text, color, color, new THREE.Vector3().setComponent(k, 1), 0.07, 0.8, 0.98));
    if (G.length() > 0) add(`g = ${short(G.length())} m/s\u00b2`, dark ? "#9aa6b2" : "#5b6672", "var(--soft)", G.clone().normalize(), 0.1, 0.85, 1.12);
  }

  // Its square [CSS pixels]: left, top, edge.
  place() {
    const { width, height } = this.world, narrow = width <= 720, edge = narrow ? 96 : Math.min(190, Math.max(110, 0.14 * height));
    return { left: narrow ? 2 : 10, top: height - edge - (narrow ? 126 : 78), edge };
  }

  pixels(point) {
    const { left, top, edge } = this.place(), v = point.clone().project(this.eye());
    return [left + 0.5 * (v.x + 1) * edge, top + 0.5 * (1 - v.y) * edge];
  }

  // It looks at the axes as the camera of the world looks at the mechanism.
  eye() {
    const { camera } = this;
    camera.quaternion.copy(this.world.camera.quaternion);
    camera.position.set(0, 0, 7.4).applyQuaternion(camera.quaternion);
    camera.updateMatrixWorld(true);
    return camera;
  }

  draw(renderer) {
    const { left, top, edge } = this.place(), { width, height } = this.world;
    renderer.autoClear = false;
    renderer.clearDepth();
    renderer.setViewport(left, height - top - edge, edge, edge);
    renderer.render(this.scene, this.eye());
    renderer.setViewport(0, 0, width, height);
    renderer.autoClear = true;
  }
}
