// Averages four texels of the level above into one, in linear light.
precision highp float;

uniform sampler2D above;
uniform vec2 aboveSize;

// The linear light of a texel, and the share of its area that is not sold.
vec4 lightAt(vec2 texel) {
  vec4 root = texture2D(above, texel / aboveSize);
  return vec4(root.rgb * root.rgb, root.a);
}

void main() {
  vec2 first = floor(gl_FragCoord.xy) * 2.0 + 0.5;
  vec4 sum = lightAt(first) + lightAt(first + vec2(1.0, 0.0)) + lightAt(first + vec2(0.0, 1.0)) + lightAt(first + 1.0);
  gl_FragColor = vec4(sqrt(sum.rgb / 4.0), sum.a / 4.0);
}
