import { expect, test } from 'bun:test'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { NODE } from '../../support/node.ts'
import { reportSkipped } from '../../support/skipped.ts'

const LOCK = resolve(import.meta.dir, '../../../server/client/lock.ts')
const NOBODY = 65_534

// Only root can run Node as another user, and only if everybody may run Node and open the folder for temporary files.
const openFolder = ['--eval', 'fs.accessSync(process.argv[1])', tmpdir()]
const isAllowed = spawnSync(NODE, openFolder, { uid: NOBODY }).status === 0

test.skipIf(reportSkipped('permission to run Node as another user', isAllowed))(
  'a process waits for a lock that a process of another user holds',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'wall-lock-'))
    try {
      // The other process reads a copy, because it may not have permission to read the source folder.
      const built = await Bun.build({ entrypoints: [LOCK], target: 'node' })
      const [made] = built.outputs
      if (made === undefined) throw new Error('the lock was not built')
      writeFileSync(join(folder, 'lock.mjs'), await made.text())
      writeFileSync(join(folder, 'lock'), String(process.pid))
      chmodSync(folder, 0o777)
      const script = `
        const { lockFolder } = await import('./lock.mjs')
        const tell = (words) => { console.log(words); process.exit(0) }
        lockFolder('.', () => tell('waits')).then(() => tell('takes it'))`
      const child = spawn(NODE, ['--input-type=module', '-e', script], { cwd: folder, uid: NOBODY })
      const out = await Array.fromAsync(child.stdout)
      expect(Buffer.concat(out).toString().trim()).toBe('waits')
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)
