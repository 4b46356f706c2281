// Draws a line around a box, and a second line around the first if `place` has space for it, so that the outline stands
// out on any picture. The box itself stays untouched.
precision highp float;

uniform vec4 box; // left, top, right, bottom in device pixels
uniform float stroke; // device pixels
uniform float canvasHeight;
uniform vec4 inner;
uniform vec4 outer;

void main() {
  vec2 at = vec2(gl_FragCoord.x, canvasHeight - gl_FragCoord.y);
  vec2 outside = max(box.xy - at, at - box.zw);
  float away = max(outside.x, outside.y);
  if (away < 0.0) discard;
  gl_FragColor = away < stroke ? inner : outer;
}
