import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SETTING_NAMES } from '../../../server/config.ts'

// Goal: the compose file matches the program and the files next to it in a release. Method: the names in it are looked
// up in both.

const deploy = join(import.meta.dir, '../../../deploy')

type Service = {
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly entrypoint?: readonly string[]
}

const text = await Bun.file(join(deploy, 'compose.yaml')).text()
const { services, volumes } = Bun.YAML.parse(text) as {
  services: Readonly<Record<'wall' | 'backup' | 'proxy' | 'postgres', Service>>
  volumes: Readonly<Record<string, unknown>>
}

test('the wall and the backup service get only settings that the program knows, and both get the same settings and volumes', () => {
  const { wall, backup } = services
  for (const name of Object.keys(wall.environment ?? {})) expect(SETTING_NAMES).toContain(name)
  expect([backup.environment, backup.volumes]).toEqual([wall.environment, wall.volumes])
  expect(backup.entrypoint?.join(' ')).toContain('pixel-wall backup --into /backups')
})

test('every mount is a volume of the compose file, or a file next to it in a release', async () => {
  const container = await Bun.file(join(deploy, 'Containerfile')).text()
  for (const path of ['/data', '/backups']) expect(container).toContain(path)
  const sources = Object.values(services).flatMap(({ volumes: mounts = [] }) =>
    mounts.map((mount) => mount.split(':')[0] ?? ''),
  )
  for (const source of sources) {
    const isFile = source.startsWith('./')
    // The release creates the settings file from .env.example.
    const isThere = isFile ? source === './pixel-wall.env' || existsSync(join(deploy, source)) : source in volumes
    expect([source, isThere]).toEqual([source, true])
  }
})

test('the Caddyfile reads every variable that the compose file sets for the proxy', async () => {
  const recipe = await Bun.file(join(deploy, 'Caddyfile')).text()
  for (const name of Object.keys(services.proxy.environment ?? {})) expect(recipe).toContain(`{$${name}:`)
})
