/**
 * The path of the built page: beside the source, or inside the executable, which includes another module in place of
 * this one.
 */

import { join } from 'node:path'
import { readFilesIn } from './http/answer/viewer-files.ts'

/** The path of each file by its name; empty if the page was not built. */
export const loadPageFiles = () => readFilesIn(join(import.meta.dir, '../dist/viewer'))
