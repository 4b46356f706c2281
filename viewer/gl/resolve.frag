// Palette indices to light. Kept as the square root of linear light, which eight bits hold well and one multiplication undoes.
precision highp float;

uniform sampler2D atlas;
uniform sampler2D palette;
uniform vec2 size;

void main() {
  float index = texture2D(atlas, gl_FragCoord.xy / size).r;
  vec3 c = texture2D(palette, vec2((index * 255.0 + 0.5) / 256.0, 0.5)).rgb;
  vec3 light = mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), step(0.04045, c));
  gl_FragColor = vec4(sqrt(light), 1.0);
}
