/** A picture service for tests that send no picture. */

import type { Pictures } from '../../../server/ports.ts'

/** Every conversion returns `busy`. */
export const noPictures: Pick<Pictures, 'convertToPalette'> = { convertToPalette: async () => 'busy' }
