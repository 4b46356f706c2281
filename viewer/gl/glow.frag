// The light of fresh works on the open ground around them, which leaves the pictures themselves as they are.
precision highp float;

uniform sampler2D fresh; // one texel a block, 1 where it was just sold
uniform float glowing; // whether anything is fresh
uniform vec4 glow; // the colour of the light

const float REACH = 12.0; // wall pixels between the places that are looked at
const float STRENGTH = 0.22;

vec3 lit(vec3 ground, vec2 at) {
  if (glowing == 0.0) return ground;
  float light = 0.0;
  for (int y = -1; y <= 1; y++)
    for (int x = -1; x <= 1; x++)
      light += texture2D(fresh, (at + vec2(float(x), float(y)) * REACH) / vec2(WALL_WIDTH, WALL_HEIGHT)).r;
  return mix(ground, glow.rgb, min(light * STRENGTH, 0.7));
}
