// One texel from four of the level above, averaged in linear light.
precision highp float;

uniform sampler2D above;
uniform vec2 aboveSize;

vec3 lightAt(vec2 texel) {
  vec3 root = texture2D(above, texel / aboveSize).rgb;
  return root * root;
}

void main() {
  vec2 first = floor(gl_FragCoord.xy) * 2.0 + 0.5;
  vec3 sum = lightAt(first) + lightAt(first + vec2(1.0, 0.0)) + lightAt(first + vec2(0.0, 1.0)) + lightAt(first + 1.0);
  gl_FragColor = vec4(sqrt(sum / 4.0), 1.0);
}
