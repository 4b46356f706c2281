/** The page as built by `bun run build`. */

const root = new URL('../../../', import.meta.url).pathname

/** The folder of the built page. Throws if the page does not exist, or if a source file is newer. */
export async function requireBuiltPage(): Promise<string> {
  const dist = `${root}dist/viewer`
  const builtAt = await readChangeTime(`${dist}/index.html`).catch(() => 0)
  for await (const source of new Bun.Glob('{viewer,shared}/**/*').scan(root))
    if ((await readChangeTime(root + source)) > builtAt)
      throw new Error(`${source} is newer than the built page: run \`bun run build\``)
  return dist
}

const readChangeTime = async (path: string) => (await Bun.file(path).stat()).mtimeMs
