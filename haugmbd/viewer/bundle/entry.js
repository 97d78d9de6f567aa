// What the page needs of three.js; everything else is left out of the bundle.
export {
  Box3, BoxGeometry, BufferAttribute, BufferGeometry, Color, ConeGeometry, CylinderGeometry, DirectionalLight, DoubleSide, Group,
  HemisphereLight, Line, LineBasicMaterial, LineLoop, LineSegments, Matrix4, Mesh, MeshBasicMaterial, MeshStandardMaterial,
  OctahedronGeometry, PerspectiveCamera, Quaternion, Raycaster, Scene, SphereGeometry, TorusGeometry, TubeGeometry, CatmullRomCurve3,
  LatheGeometry, Vector2, Vector3, WebGLRenderer, EdgesGeometry,
} from "three";
export { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
export { Line2 } from "three/examples/jsm/lines/Line2.js";
export { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
export { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
