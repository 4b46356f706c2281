import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const packageOf: Readonly<Record<string, string>> = {
  'darwin-arm64': '@foundry-rs/anvil-darwin-arm64',
  'darwin-x64': '@foundry-rs/anvil-darwin-amd64',
  'linux-arm64': '@foundry-rs/anvil-linux-arm64',
  'linux-x64': '@foundry-rs/anvil-linux-amd64',
  'win32-x64': '@foundry-rs/anvil-win32-amd64',
}

/** Thrown if this machine has no anvil, and so no embedded network; its message says what the operator can do. */
export class AnvilMissing extends Error {
  override readonly name = 'AnvilMissing'

  constructor(platform: string) {
    const wanted = packageOf[platform]
    const lack = wanted
      ? `The npm package ${wanted}, which holds anvil for ${platform}, is not installed.`
      : `There is no anvil for ${platform}.`
    super(
      `${lack} The embedded network needs anvil, which npm has for ${Object.keys(packageOf).join(', ')}. ` +
        'On one of those platforms, reinstall with optional dependencies. Or use `bun run start` against real endpoints: that needs no anvil.',
    )
  }
}

/**
 * The path of the installed anvil binary for a platform named in the form `process.platform-process.arch`; throws
 * `AnvilMissing` if there is none.
 */
export function findAnvilBinary(platform = `${process.platform}-${process.arch}`): string {
  const name = packageOf[platform]
  const manifest = name && resolveManifest(name)
  if (!manifest) throw new AnvilMissing(platform)
  // Bun does not run the install script that creates the package's own launcher, so this is the path of the program
  // itself.
  const path = join(dirname(manifest), 'bin', platform.startsWith('win32') ? 'anvil.exe' : 'anvil')
  if (!existsSync(path)) throw new AnvilMissing(platform)
  return path
}

function resolveManifest(name: string): string | undefined {
  const here = createRequire(import.meta.url)
  try {
    // The platform packages are dependencies of the anvil package, and are not always hoisted to our own folder.
    return createRequire(here.resolve('@foundry-rs/anvil/package.json')).resolve(`${name}/package.json`)
  } catch {
    return undefined
  }
}
