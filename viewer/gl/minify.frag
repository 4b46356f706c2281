// Draws the wall if a device pixel is one to two texels wide: averages the light of the texels, weighted by the area of
// each that the device pixel covers.

uniform sampler2D level;
uniform vec2 levelSize;
uniform float scale; // wall pixels per texel

float openAt(vec2 point) {
  return texture2D(level, (floor(point) + 0.5) / levelSize).a;
}

// Whether a point on an open block is at the edge of a sold block.
bool isEdge(vec2 middle) {
  float step = line * pixel;
  return min(
    min(openAt(middle - vec2(step, 0.0)), openAt(middle + vec2(step, 0.0))),
    min(openAt(middle - vec2(0.0, step)), openAt(middle + vec2(0.0, step)))
  ) < 0.5;
}

void main() {
  vec2 low = origin + vec2(gl_FragCoord.x - 0.5, canvasHeight - gl_FragCoord.y - 0.5) * pixel;
  vec2 high = low + pixel;
  vec2 first = floor(low);
  vec3 light = vec3(0.0);
  float open = 0.0;
  for (int y = 0; y < 3; y++) {
    for (int x = 0; x < 3; x++) {
      vec2 cell = first + vec2(float(x), float(y));
      vec2 covered = max(min(high, cell + 1.0) - max(low, cell), 0.0);
      vec4 root = texture2D(level, (cell + 0.5) / levelSize);
      light += root.rgb * root.rgb * (covered.x * covered.y);
      open += root.a * covered.x * covered.y;
    }
  }
  vec2 middle = low + 0.5 * pixel;
  vec2 fromTen = mod(middle * scale, 100.0) / (pixel * scale);
  open /= pixel * pixel;
  float strength = gridStrength.y * step(min(fromTen.x, fromTen.y), line) * open;
  vec3 colour = mix(fromLinear(light / (pixel * pixel)), gridLine.rgb, strength);
  if (open > 0.99 && isEdge(middle)) colour = edge.rgb;
  gl_FragColor = vec4(colour, 1.0);
}
