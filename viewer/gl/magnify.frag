// A wall pixel covers at least one device pixel: each shows its exact colour, and only where a device pixel
// straddles an edge are the neighbours mixed, in linear light and by the area each covers.
precision highp float;

uniform sampler2D indices;
uniform sampler2D palette;
uniform sampler2D overlay;
uniform vec2 wallSize;
uniform vec2 origin; // wall point at the canvas's top left corner
uniform float pixel; // wall pixels per device pixel
uniform float canvasHeight;
uniform float overlaid; // whether anything lies over the blocks
uniform vec2 rules; // strength of the lines around open blocks and around ten by ten of them, 0 to 1
uniform vec4 rule; // their colour
uniform float line; // their width in device pixels

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

vec3 fromLinear(vec3 c) {
  return mix(c * 12.92, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
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

void main() {
  vec2 middle = origin + vec2(gl_FragCoord.x, canvasHeight - gl_FragCoord.y) * pixel;
  vec3 colour = pixelAt(middle);
  bool isEmpty = isOpen(floor(middle));
  if (overlaid > 0.0) {
    vec4 over = texture2D(overlay, middle / wallSize);
    colour = mix(colour, over.rgb, over.a);
    // Only what is not sold yet at the moment that is shown is covered wholly.
    isEmpty = isEmpty || over.a > 0.998;
  }
  if (isEmpty) {
    // Device pixels from the left and top edge of the block, and of the ten by ten it is one of.
    vec2 fromBlock = mod(middle, 10.0) / pixel;
    vec2 fromTen = mod(middle, 100.0) / pixel;
    float strength = max(
      rules.x * step(min(fromBlock.x, fromBlock.y), line),
      rules.y * step(min(fromTen.x, fromTen.y), line)
    );
    colour = mix(colour, rule.rgb, strength);
  }
  gl_FragColor = vec4(colour, 1.0);
}
