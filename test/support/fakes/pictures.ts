/** Pictures for tests in which nobody sends one. */

import type { Pictures } from '../../../server/ports.ts'

/** Every conversion returns `busy`. */
export const noPictures: Pick<Pictures, 'paint'> = { paint: async () => 'busy' }
