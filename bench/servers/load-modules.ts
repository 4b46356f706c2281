/** Loads every module that a wall runs on, and ends: no start can be faster than this. */

await Promise.all([import('../../db/open.ts'), import('../../server/serve.ts'), import('../../server/config.ts')])
process.exit()
