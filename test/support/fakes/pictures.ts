/** Pictures for tests in which nobody sends one. */

import type { Pictures } from '../../../server/ports.ts'

/** Whoever paints with these is told to come back. */
export const noPictures: Pick<Pictures, 'paint'> = { paint: async () => 'busy' }
