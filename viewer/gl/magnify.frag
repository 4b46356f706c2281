// Draws the wall if a wall pixel covers at least one device pixel. A device pixel has the exact colour of its wall
// pixel; if it straddles several, it mixes their colours in linear light, by the area that each covers.

uniform sampler2D indices;
uniform sampler2D palette;
uniform sampler2D overlay;
uniform vec2 wallSize;
uniform float overlaid; // 1 if the overlay covers anything, else 0

vec3 colourAt(vec2 cell) {
  float index = texture2D(indices, (clamp(cell, vec2(0.0), wallSize - 1.0) + 0.5) / wallSize).r;
  return texture2D(palette, vec2((index * 255.0 + 0.5) / 256.0, 0.5)).rgb;
}

bool isOpen(vec2 cell) {
  float index = texture2D(indices, (clamp(cell, vec2(0.0), wallSize - 1.0) + 0.5) / wallSize).r;
  return abs(index * 255.0 - OPEN) < 0.5;
}

vec3 toLinear(vec3 c) {
  return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), step(0.04045, c));
}

vec3 pixelAt(vec2 middle) {
  vec2 first = floor(middle - 0.499 * pixel);
  vec2 last = floor(middle + 0.499 * pixel);
  if (first == last) return colourAt(first);
  vec2 share = clamp((middle - last) / pixel + 0.5, 0.0, 1.0);
  vec3 top = mix(toLinear(colourAt(first)), toLinear(colourAt(vec2(last.x, first.y))), share.x);
  vec3 bottom = mix(toLinear(colourAt(vec2(first.x, last.y))), toLinear(colourAt(last)), share.x);
  return fromLinear(mix(top, bottom, share.y));
}

// Whether a point of the wall is not sold at the shown moment.
bool isEmptyAt(vec2 point) {
  return isOpen(floor(point)) || (overlaid > 0.0 && texture2D(overlay, point / wallSize).a > 0.998);
}

// Whether a point on an open block is at the edge of a sold block.
bool isEdge(vec2 middle) {
  vec2 fromBlock = mod(middle, 10.0) / pixel;
  vec2 near = min(fromBlock, 10.0 / pixel - fromBlock);
  if (min(near.x, near.y) > line) return false;
  for (int y = -1; y <= 1; y++)
    for (int x = -1; x <= 1; x++)
      if (!isEmptyAt(middle + vec2(float(x), float(y)) * line * pixel)) return true;
  return false;
}

void main() {
  vec2 middle = origin + vec2(gl_FragCoord.x, canvasHeight - gl_FragCoord.y) * pixel;
  vec3 colour = pixelAt(middle);
  bool isEmpty = isOpen(floor(middle));
  if (overlaid > 0.0) {
    vec4 over = texture2D(overlay, middle / wallSize);
    colour = mix(colour, over.rgb, over.a);
    isEmpty = isEmptyAt(middle);
  }
  if (isEmpty) {
    // Distances in device pixels to the lines above and to the left: first those of the block, then those of its group
    // of ten by ten.
    vec2 fromBlock = mod(middle, 10.0) / pixel;
    vec2 fromTen = mod(middle, 100.0) / pixel;
    float strength = max(
      gridStrength.x * step(min(fromBlock.x, fromBlock.y), line),
      gridStrength.y * step(min(fromTen.x, fromTen.y), line)
    );
    colour = isEdge(middle) ? edge.rgb : mix(colour, gridLine.rgb, strength);
  }
  gl_FragColor = vec4(colour, 1.0);
}
