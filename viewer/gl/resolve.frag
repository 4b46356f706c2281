// Converts palette indices to light; alpha is 1 if a pixel is not sold. Light is stored as the square root of linear
// light: eight bits are enough for it, and one multiplication undoes the root.
precision highp float;

uniform sampler2D indices;
uniform sampler2D palette;
uniform sampler2D overlay;
uniform vec2 size;

void main() {
  vec2 at = gl_FragCoord.xy / size;
  float index = texture2D(indices, at).r;
  vec4 over = texture2D(overlay, at);
  vec3 c = mix(texture2D(palette, vec2((index * 255.0 + 0.5) / 256.0, 0.5)).rgb, over.rgb, over.a);
  vec3 light = mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), step(0.04045, c));
  // The overlay completely covers blocks that are not sold yet at the shown moment.
  float open = max(1.0 - step(0.5, abs(index * 255.0 - OPEN)), step(0.998, over.a));
  gl_FragColor = vec4(sqrt(light), open);
}
