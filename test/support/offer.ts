import type { Offer } from '../../server/x402/terms.ts'
import { TERMS } from './samples.ts'

/** The offer of a wall at wall.example. */
export const OFFER: Offer = {
  terms: TERMS,
  title: 'Pixel Wall',
  baseUrl: 'https://wall.example',
  assetName: 'USD Coin',
  assetVersion: '2',
}
