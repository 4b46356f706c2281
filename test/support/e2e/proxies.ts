/** The load balancers of `deploy/`, started from their recipes with only addresses, certificates and limits changed. */

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../../../server/local/wall-process.ts'

const DEPLOY = join(import.meta.dir, '../../../deploy')

/** A running load balancer. */
export type Proxy = { readonly url: string; stop(): Promise<void> }

/** Paths of PEM files; `both` has the certificate and its key. */
type Certificate = { readonly cert: string; readonly key: string; readonly both: string }

type Recipe = {
  readonly program: string
  readonly files: readonly string[]
  /**
   * Returns the recipe adapted to these instances, so that the program listens on the given port, with TLS if there is
   * a certificate.
   */
  adaptConfig(
    text: string,
    port: string,
    instances: readonly string[],
    folder: string,
    certificate?: Certificate,
  ): string
  buildCommand(file: string, port: string, folder: string): readonly string[]
}

const nginx = {
  program: 'nginx',
  files: ['nginx.conf'],
  adaptConfig: (text, port, instances, folder, certificate?: Certificate) => `user root;
pid ${folder}/pid;
error_log ${folder}/error.log;
events { worker_connections 16384; }
http {
access_log off;
# A test may set the address of the client, which nginx takes for the peer of the connection.
set_real_ip_from 127.0.0.1;
real_ip_header X-Peer;
${text
  .replace(/server 127\.0\.0\.1:8402 (.*)\n.*\n/, (_, options: string) =>
    instances.map((instance) => `server 127.0.0.1:${instance} ${options}\n`).join(''),
  )
  .replace('listen 443 ssl http2', `listen 127.0.0.1:${port}${certificate === undefined ? '' : ' ssl http2'}`)
  .replace(/ssl_certificate .*\n/, certificate === undefined ? '' : `ssl_certificate ${certificate.cert};\n`)
  .replace(/ssl_certificate_key .*\n/, certificate === undefined ? '' : `ssl_certificate_key ${certificate.key};\n`)}
}`,
  buildCommand: (file) => ['nginx', '-c', file, '-g', 'daemon off;'],
} as const satisfies Recipe

const RECIPES = {
  nginx,
  /** nginx with its cache. It rejects live streams, as it would if there were more viewers than connections. */
  'caching-nginx': {
    ...nginx,
    files: ['nginx-cache.conf', 'nginx.conf'],
    adaptConfig: (text, port, instances, folder) =>
      nginx.adaptConfig(
        text
          .replace('/var/cache/nginx/wall', `${folder}/cache`)
          .replace(/(location = \/api\/live \{)[^}]*/, '$1 return 503; '),
        port,
        instances,
        folder,
      ),
  },
  /** Caddy in front of one instance only. */
  caddy: {
    program: 'caddy',
    files: ['Caddyfile'],
    adaptConfig: (text, port, [instance = ''], _folder, certificate) => `{
admin off
auto_https off
grace_period 1s
}
${text
  .replace(
    '{$WALL_HOST:wall.example} {',
    certificate === undefined
      ? `http://127.0.0.1:${port} {`
      : `https://127.0.0.1:${port} {\n\ttls ${certificate.cert} ${certificate.key}`,
  )
  .replace('{$WALL_UPSTREAM:127.0.0.1:8402}', `127.0.0.1:${instance}`)}`,
    buildCommand: (file) => ['caddy', 'run', '--config', file, '--adapter', 'caddyfile'],
  },
  haproxy: {
    program: 'haproxy',
    files: ['haproxy.cfg'],
    adaptConfig: (text, port, instances, _folder, certificate) =>
      text
        .replaceAll(/\tserver one 127\.0\.0\.1:8402 check\n.*\n/g, () =>
          instances.map((instance, at) => `\tserver s${at} 127.0.0.1:${instance} check\n`).join(''),
        )
        // The test process may have fewer file descriptors than the systemd unit gives HAProxy.
        .replace('maxconn 20000', 'maxconn 1000')
        .replace(
          /bind :443 ssl crt \S+( alpn .*)/,
          (_, alpn: string) =>
            `bind 127.0.0.1:${port}${certificate === undefined ? '' : ` ssl crt ${certificate.both}${alpn}`}`,
        ),
    buildCommand: (file) => ['haproxy', '-db', '-f', file],
  },
  /** Varnish in front of one instance only, without TLS. */
  varnish: {
    program: 'varnishd',
    files: ['varnish.vcl'],
    adaptConfig: (text, _port, [instance = '']) => text.replace('.port = "8402"', `.port = "${instance}"`),
    // The parameters are those in the recipe; the log in memory is small, because no test reads it.
    buildCommand: (file, port, folder) =>
      `varnishd -F -a 127.0.0.1:${port} -f ${file} -n ${folder}/varnish -s malloc,256m -l 20m -p pipe_timeout=250 -p thread_pool_min=500 -p thread_pool_max=10000 -p thread_queue_limit=10000`.split(
        ' ',
      ),
  },
} as const satisfies Record<string, Recipe>

export type ProxyName = keyof typeof RECIPES

/** Whether the program is installed. */
export const isInstalled = (name: ProxyName): boolean => findProgram(name) !== null

const findProgram = (name: ProxyName) =>
  Bun.which(RECIPES[name].program, { PATH: `${Bun.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin` })

/** Starts a load balancer in front of instances on these ports, and resolves once it responds. */
export async function startProxy(
  name: ProxyName,
  instances: readonly string[],
  { isEncrypted = false }: { readonly isEncrypted?: boolean } = {},
): Promise<Proxy> {
  const recipe = RECIPES[name]
  const folder = mkdtempSync(join(tmpdir(), `pixel-wall-${name}-`))
  chmodSync(folder, 0o755)
  const port = String(await findFreePort())
  const file = join(folder, 'proxy.conf')
  const certificate = isEncrypted ? await makeCertificate(folder) : undefined
  const texts = await Promise.all(recipe.files.map((name) => Bun.file(join(DEPLOY, name)).text()))
  await Bun.write(file, recipe.adaptConfig(texts.join('\n'), port, instances, folder, certificate))
  const [, ...args] = recipe.buildCommand(file, port, folder)
  const child = Bun.spawn([findProgram(name) ?? recipe.program, ...args], {
    env: { PATH: Bun.env['PATH'] ?? '', HOME: folder },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const url = `${isEncrypted ? 'https' : 'http'}://127.0.0.1:${port}`
  const ended = child.exited.then(async (code) => {
    throw new Error(`${name} ended with ${code}: ${await new Response(child.stderr).text()}`)
  })
  await Promise.race([waitUntilAnswering(url), ended])
  ended.catch(() => {})
  return {
    url,
    async stop() {
      child.kill()
      await child.exited
      rmSync(folder, { recursive: true })
    },
  }
}

/** Makes a self-signed certificate for 127.0.0.1. */
async function makeCertificate(folder: string): Promise<Certificate> {
  const [cert, key, both] = [join(folder, 'cert.pem'), join(folder, 'key.pem'), join(folder, 'both.pem')]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const made = ['openssl', 'req', '-x509', '-nodes', '-newkey', 'rsa:2048', '-keyout', key, '-out', cert, ...subject]
  const child = Bun.spawn(made, { stdout: 'ignore', stderr: 'pipe' })
  if ((await child.exited) !== 0) throw new Error(await new Response(child.stderr).text())
  await Bun.write(both, (await Bun.file(cert).text()) + (await Bun.file(key).text()))
  return { cert, key, both }
}

async function waitUntilAnswering(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/readyz/reads`, { tls: { rejectUnauthorized: false } }).catch(() => undefined)
    if (answer?.status === 200) return
    await Bun.sleep(20)
  }
}
