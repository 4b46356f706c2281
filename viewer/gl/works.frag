// Draws a line around each marked work: inside its blocks, along every edge to a block that is not marked.
precision highp float;

uniform sampler2D marks; // one texel per block
uniform vec2 blocks; // number of columns and rows of blocks
uniform vec2 origin; // wall point at the canvas's top left corner
uniform float pixel; // wall pixels per device pixel
uniform float canvasHeight;
uniform float stroke; // device pixels

float marked(vec2 block) {
  vec2 inside = step(vec2(0.0), block) * step(block, blocks - 1.0);
  return step(0.5, texture2D(marks, (block + 0.5) / blocks).r) * inside.x * inside.y;
}

void main() {
  vec2 middle = (origin + vec2(gl_FragCoord.x, canvasHeight - gl_FragCoord.y) * pixel) / 10.0;
  vec2 block = floor(middle);
  if (marked(block) < 0.5) discard;
  vec2 near = (middle - block) * 10.0 / pixel; // distances from the left and top edges of the block, in device pixels
  vec2 far = 10.0 / pixel - near;
  float away = 1e6;
  if (marked(block - vec2(1.0, 0.0)) < 0.5) away = min(away, near.x);
  if (marked(block + vec2(1.0, 0.0)) < 0.5) away = min(away, far.x);
  if (marked(block - vec2(0.0, 1.0)) < 0.5) away = min(away, near.y);
  if (marked(block + vec2(0.0, 1.0)) < 0.5) away = min(away, far.y);
  if (away > 2.0 * stroke) discard;
  gl_FragColor = vec4(vec3(away < stroke ? 1.0 : 0.0), 1.0);
}
