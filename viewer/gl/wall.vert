// Covers `place` on the canvas; the fragment shaders compute their position on the wall from `gl_FragCoord`.
precision highp float;

attribute vec2 corner; // 0 to 1
uniform vec4 place;    // left, top, right, bottom in clip space

void main() {
  gl_Position = vec4(mix(place.xy, place.zw, corner), 0.0, 1.0);
}
