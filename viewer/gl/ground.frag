// What both ways of drawing the wall begin with: the lines, the edges and the light on open ground.
precision highp float;

uniform vec2 origin; // wall point at the canvas's top left corner, in texels of what is drawn
uniform float pixel; // texels per device pixel
uniform float canvasHeight;
uniform vec2 gridStrength; // strength of the lines around open blocks and around ten by ten of them, 0 to 1
uniform vec4 gridLine; // their colour
uniform float line; // their width in device pixels, and that of the edge of what is sold
uniform vec4 edge; // its colour
uniform sampler2D fresh; // one texel a block, 1 where it was just sold
uniform float glowing; // whether anything is fresh
uniform vec4 glow; // the colour of the light

const float REACH = 12.0; // wall pixels between the places that are looked at
const float STRENGTH = 0.22;

vec3 fromLinear(vec3 c) {
  return mix(c * 12.92, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
}

// The light of fresh works on the open ground around them, which leaves the pictures themselves as they are.
vec3 lit(vec3 ground, vec2 at) {
  if (glowing == 0.0) return ground;
  float light = 0.0;
  for (int y = -1; y <= 1; y++)
    for (int x = -1; x <= 1; x++)
      light += texture2D(fresh, (at + vec2(float(x), float(y)) * REACH) / vec2(WALL_WIDTH, WALL_HEIGHT)).r;
  return mix(ground, glow.rgb, min(light * STRENGTH, 0.7));
}
