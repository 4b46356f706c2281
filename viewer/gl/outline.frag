// A white line around a block with a dark one around that, so that it stands out on any picture; the block itself stays untouched.
precision highp float;

uniform vec4 block; // left, top, right, bottom in device pixels
uniform float stroke; // device pixels
uniform float canvasHeight;

void main() {
  vec2 at = vec2(gl_FragCoord.x, canvasHeight - gl_FragCoord.y);
  vec2 outside = max(block.xy - at, at - block.zw);
  float away = max(outside.x, outside.y);
  if (away < 0.0) discard;
  gl_FragColor = vec4(vec3(away < stroke ? 1.0 : 0.0), 1.0);
}
