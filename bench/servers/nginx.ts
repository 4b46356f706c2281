/** nginx as most people run it, sending one file that is compressed already. */

import { join } from 'node:path'
import { freePort } from '../../server/local/wall-process.ts'
import { pin } from '../measure/cpu.ts'
import { SERVERS_ON, type Server } from './server.ts'

/** Starts nginx in one process, with `file`, in gzip, as `/canvas`; its own files go to `folder`. */
export async function startNginx(folder: string, file: string): Promise<Server & { end(): void }> {
  const port = await freePort()
  const config = join(folder, 'nginx.conf')
  await Bun.write(config, configOf(folder, file, port))
  const child = Bun.spawn(['nginx', '-c', config, '-e', join(folder, 'nginx.log')], {
    stdout: 'ignore',
    stderr: 'ignore',
  })
  while (!(await isUp(port))) {
    if (child.exitCode !== null) throw new Error('nginx did not start')
    await Bun.sleep(20)
  }
  pin(child.pid, SERVERS_ON)
  return { port, pid: child.pid, end: () => child.kill() }
}

const configOf = (folder: string, file: string, port: number) => `
  daemon off;
  master_process off;
  pid ${folder}/nginx.pid;
  events { worker_connections 512; }
  http {
    access_log off;
    sendfile on;
    client_body_temp_path ${folder}/nginx-body;
    keepalive_requests 100000000;
    server {
      listen 127.0.0.1:${port};
      location = /canvas { alias ${file}; default_type application/json; add_header Content-Encoding gzip; }
    }
  }`

const isUp = (port: number) =>
  fetch(`http://127.0.0.1:${port}/canvas`, { method: 'HEAD' }).then(
    ({ ok }) => ok,
    () => false,
  )
