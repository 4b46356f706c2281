import type { Offer } from '../../server/x402/terms.ts'
import { TERMS } from './samples.ts'

/** What a wall at wall.example offers. */
export const OFFER: Offer = {
  terms: TERMS,
  title: 'Pixel Wall',
  baseUrl: 'https://wall.example',
  assetName: 'USD Coin',
  assetVersion: '2',
}
