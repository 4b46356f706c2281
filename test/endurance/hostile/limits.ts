/** What this machine lets one process have. */

/** How many files and sockets a process may hold open. */
export async function openFiles(): Promise<number> {
  const said = await new Response(Bun.spawn(['sh', '-c', 'ulimit -Hn']).stdout).text()
  const most = Number(said)
  return Number.isFinite(most) ? most : Number.MAX_SAFE_INTEGER
}
