type Child = Bun.Subprocess<'ignore', 'pipe', 'pipe'>

/** Waits until a process ends; returns its output and exit code. */
export async function readOutput({ stdout, stderr, exited }: Child): Promise<{
  readonly out: string
  readonly err: string
  readonly code: number
}> {
  const [out, err] = await Promise.all([new Response(stdout).text(), new Response(stderr).text()])
  return { out, err, code: await exited }
}
