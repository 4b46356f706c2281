// Covers the wall's place in the canvas; where in the wall a fragment lies is worked out from its own position.
precision highp float;

attribute vec2 corner; // 0 to 1
uniform vec4 place;    // left, top, right, bottom in clip space

void main() {
  gl_Position = vec4(mix(place.xy, place.zw, corner), 0.0, 1.0);
}
