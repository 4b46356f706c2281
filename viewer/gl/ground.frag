// The beginning of both shaders that draw the wall: the settings of the lines and edges on open blocks.
precision highp float;

uniform vec2 origin; // wall point at the canvas's top left corner, in texels of the drawn texture
uniform float pixel; // texels per device pixel
uniform float canvasHeight;
uniform vec2 gridStrength; // strength of the lines around open blocks and around groups of ten by ten, 0 to 1
uniform vec4 gridLine; // colour of those lines
uniform float line; // width of those lines, and of the edge around sold blocks, in device pixels
uniform vec4 edge; // colour of that edge

vec3 fromLinear(vec3 c) {
  return mix(c * 12.92, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
}
