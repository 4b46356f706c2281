/** `pixel-wall sbom`: lists every package of a running wall as CycloneDX, from the lock file. */

import { Type, type Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import lock from '../../bun.lock'
import manifest from '../../package.json'
import { printLines, type Command, UsageError } from './command.ts'

const USAGE = `Prints the packages of a production install of the wall (CycloneDX 1.6, JSON).

  pixel-wall sbom > sbom.json
`

const Names = Type.Optional(Type.Record(Type.String(), Type.String()))
const Locked = Type.Tuple([
  Type.String(), // name@version
  Type.String(), // the registry; empty for the default one
  Type.Object({ dependencies: Names, optionalDependencies: Names }),
  Type.String(), // integrity
])
type Locked = Static<typeof Locked>
type Packages = Readonly<Record<string, Locked>>
const Lock = Type.Object({ packages: Type.Record(Type.String(), Locked) })

/** Lists the packages of the wall. */
export const sbom: Command = {
  usage: USAGE,
  async run(args) {
    if (args.length > 0) throw new UsageError()
    const { packages } = Value.Parse(Lock, lock)
    const components = listNeededPackages(Object.keys(manifest.dependencies), packages).map(toComponent)
    const { name, version } = manifest
    const document = {
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      version: 1,
      metadata: { component: { type: 'application', name, version } },
      components,
    }
    printLines(JSON.stringify(document, null, 2).split('\n'))
    return 0
  },
}

/** Every package reachable from these names, each version once, sorted by name. */
function listNeededPackages(names: readonly string[], packages: Packages): Locked[] {
  const found = new Map<string, Locked>()
  const open = names.map((name) => ({ name, from: '' }))
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const place = findInLock(next.name, next.from, packages)
    const locked = place === undefined ? undefined : packages[place]
    if (place === undefined || locked === undefined || found.has(place)) continue
    found.set(place, locked)
    const { dependencies = {}, optionalDependencies = {} } = locked[2]
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) open.push({ name, from: place })
  }
  const versions = new Map([...found.values()].map((locked) => [locked[0], locked]))
  return [...versions.values()].toSorted(([one], [other]) => (one < other ? -1 : 1))
}

/**
 * The lock file's key for the package that `from` gets by this name: below `from`, else below one of its parents,
 * else at the top level.
 */
function findInLock(name: string, from: string, packages: Packages): string | undefined {
  for (let above = from; above !== ''; above = findParent(above)) {
    const place = `${above}/${name}`
    if (Object.hasOwn(packages, place)) return place
  }
  return Object.hasOwn(packages, name) ? name : undefined
}

/** The parent of a key; that of `a/@b/c` is `a`, because a scoped package name contains a slash of its own. */
function findParent(place: string): string {
  return place.replace(/\/?(?:@[^/]+\/)?[^/]+$/, '')
}

function toComponent([id, , , integrity]: Locked) {
  const at = id.lastIndexOf('@')
  const [name, version] = [id.slice(0, at), id.slice(at + 1)]
  const [, content = ''] = integrity.split('sha512-')
  return {
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    hashes: [{ alg: 'SHA-512', content: Buffer.from(content, 'base64').toString('hex') }],
  }
}
