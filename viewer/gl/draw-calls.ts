/**
 * regl's draw calls without generated code. regl compiles a function for each command, which a page may do only if its
 * content security policy allows 'unsafe-eval'; this code interprets the command's description instead. The build
 * replaces regl's own core with this file (regl-plugin.ts). It supports only the features that the wall's commands use:
 * shaders, one attribute, uniforms, a target.
 */

/** A texture or a buffer that can be bound; for a texture, `bind` returns its unit. */
type Bound = { bind(): number; unbind(): void }

type Texture = { readonly _texture: Bound }
type Target = { readonly framebuffer: WebGLFramebuffer; readonly width: number; readonly height: number }

/** The value of a uniform; a framebuffer stands for its first colour texture. */
type Value = number | readonly number[] | Texture | { readonly color: readonly Texture[] }

type Props = Readonly<Record<string, Value>>

/** A part of a command as regl splits it: the fixed values, and the properties that supply the others. */
type Parts<Fixed> = {
  readonly static: Readonly<Record<string, Fixed>>
  readonly dynamic: Readonly<Record<string, { readonly data: string }>> // a JSON array with the property's name
}

type Options = Parts<unknown> & {
  readonly static: { readonly vert: string; readonly frag: string; readonly primitive?: string; readonly count: number }
}

/** The parts of regl that a draw call needs. */
export type ReglParts = {
  readonly gl: WebGLRenderingContext
  readonly buffers: {
    create(data: readonly number[], type: number, isDeferred: boolean, isKept: boolean): { readonly _buffer: Bound }
  }
  readonly framebuffers: { cur: Target | null; next: Target | null; getFramebuffer(value: unknown): Target | null }
}

// The number of coordinates of a corner.
const CORNER_SIZE = 2

/** The core of regl: compiles commands, and sets the state in which each command begins. */
export function drawCalls(parts: ReglParts) {
  const { gl, framebuffers } = parts
  const box: [number, number, number, number] = [0, 0, 0, 0]
  const begun: Begun[] = []
  commands.set(gl, begun)
  const bindTarget = (target: Target | null) => {
    gl.bindFramebuffer(gl.FRAMEBUFFER, target?.framebuffer ?? null)
    if (target === null) gl.viewport(...box)
    else gl.viewport(0, 0, target.width, target.height)
    framebuffers.cur = target
    framebuffers.next = target
  }
  const poll = () => bindTarget(null)
  return {
    // regl writes the canvas's size into the viewport and the scissor box.
    next: { viewport: box, scissor_box: [0, 0, 0, 0] },
    current: {},
    procs: { poll, refresh: poll },
    compile(options: Options, attributes: Parts<readonly number[]>, uniforms: Parts<Value>) {
      // regl also compiles an internal command, which has no shaders.
      const program = 'vert' in options.static ? startCompiling(gl, options.static) : undefined
      let ready: ((props: Props) => void) | undefined
      const getDraw = () => (ready ??= program && createCall(parts, program, options.static, attributes, uniforms))
      if (program) begun.push({ program, prepare: getDraw })
      const target = options.dynamic['framebuffer']
      const draw = (props: Props) => {
        bindTarget(target === undefined ? null : framebuffers.getFramebuffer(props[parseName(target)]))
        ;(getDraw() ?? throwUnsupported)(props)
      }
      return { draw, batch: throwUnsupported, scope: throwUnsupported, destroy() {} }
    },
  }
}

/** A command whose shaders are being compiled; `prepare` looks up the locations of its attributes and uniforms. */
type Begun = { readonly program: WebGLProgram; readonly prepare: () => void }

const commands = new WeakMap<WebGLRenderingContext, readonly Begun[]>()

// Shorter than a frame, in milliseconds.
const POLL_MS = 4

/**
 * Resolves once every command of a context can draw. The page does not block if the driver can compile in parallel, and
 * each command is prepared in a task of its own.
 */
export async function waitForCommands(gl: WebGLRenderingContext): Promise<void> {
  const extension = gl.getExtension('KHR_parallel_shader_compile')
  gl.flush()
  for (const { program, prepare } of commands.get(gl) ?? []) {
    // If the context is lost, the query returns null, which ends the wait.
    do await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    while (extension && gl.getProgramParameter(program, extension.COMPLETION_STATUS_KHR) === false)
    if (!gl.isContextLost()) prepare()
  }
}

const throwUnsupported = () => {
  throw new TypeError('Only one draw command at a time is supported.')
}

/**
 * Has the driver compile shaders. The page does not query them before they are ready, so that the driver can compile in
 * parallel.
 */
function startCompiling(gl: WebGLRenderingContext, { vert, frag }: Options['static']): WebGLProgram {
  const program = gl.createProgram()
  const kinds = [gl.VERTEX_SHADER, gl.FRAGMENT_SHADER] as const
  for (const [at, source] of [vert, frag].entries()) {
    const shader = gl.createShader(kinds[at] ?? gl.VERTEX_SHADER)
    // A lost context creates no shader.
    if (shader === null) continue
    gl.shaderSource(shader, source)
    gl.compileShader(shader)
    gl.attachShader(program, shader)
  }
  gl.linkProgram(program)
  return program
}

function createCall(
  { gl, buffers }: ReglParts,
  program: WebGLProgram,
  { primitive, count }: Options['static'],
  attributes: Parts<readonly number[]>,
  uniforms: Parts<Value>,
): (props: Props) => void {
  const mode = primitive === 'triangle strip' ? gl.TRIANGLE_STRIP : gl.TRIANGLES
  const corners = Object.entries(attributes.static).map(([name, data]) => ({
    location: gl.getAttribLocation(program, name),
    buffer: buffers.create(data, gl.ARRAY_BUFFER, false, false)._buffer,
  }))
  const values = [...Object.keys(uniforms.static), ...Object.keys(uniforms.dynamic)].map((name) => {
    const given = uniforms.dynamic[name]
    const prop = given && parseName(given)
    const readValue = (props: Props) => (prop === undefined ? uniforms.static[name] : props[prop])
    return { location: gl.getUniformLocation(program, name), of: readValue }
  })
  return (props) => {
    gl.useProgram(program)
    for (const { location, buffer } of corners) {
      buffer.bind()
      gl.enableVertexAttribArray(location)
      gl.vertexAttribPointer(location, CORNER_SIZE, gl.FLOAT, false, 0, 0)
    }
    const bound = values.map(({ location, of }) => setUniform(gl, location, of(props)))
    gl.drawArrays(mode, 0, count)
    for (const texture of bound) texture?.unbind()
  }
}

/** Sets a uniform; returns the texture that was bound for it, if any. */
function setUniform(gl: WebGLRenderingContext, location: WebGLUniformLocation | null, value: Value | undefined) {
  if (typeof value === 'number') gl.uniform1f(location, value)
  else if (isNumbers(value)) {
    if (value.length === 2) gl.uniform2fv(location, value)
    else gl.uniform4fv(location, value)
  } else if (value !== undefined) {
    const texture = '_texture' in value ? value : value.color[0]
    if (texture !== undefined) gl.uniform1i(location, texture._texture.bind())
    return texture?._texture
  }
  return undefined
}

const isNumbers = (value: Value | undefined): value is readonly number[] => Array.isArray(value)

function parseName({ data }: { readonly data: string }): string {
  const [name]: string[] = JSON.parse(data)
  return name ?? ''
}
