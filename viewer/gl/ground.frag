// What both ways of drawing the wall begin with: the lines and the edges on open ground.
precision highp float;

uniform vec2 origin; // wall point at the canvas's top left corner, in texels of what is drawn
uniform float pixel; // texels per device pixel
uniform float canvasHeight;
uniform vec2 gridStrength; // strength of the lines around open blocks and around ten by ten of them, 0 to 1
uniform vec4 gridLine; // their colour
uniform float line; // their width in device pixels, and that of the edge of what is sold
uniform vec4 edge; // its colour

vec3 fromLinear(vec3 c) {
  return mix(c * 12.92, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
}
