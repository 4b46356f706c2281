/** The section for owners, who type their address in or connect a wallet in the browser. */

import { formatBlocks } from '../../shared/money.ts'
import { createButton, createElement, queryElement } from '../ui/dom.ts'
import { isSoldOut } from '../wall/wall-model.ts'
import { chooseAdvice, chooseDeal } from './order/cost-summary.ts'
import { type Signer, createRepaintPanel } from './repaint.ts'
import { readBlocksOfWallet, ServiceError } from './service.ts'
import type { Component, Studio } from './sketch.ts'
import { type BrowserWallet, requestAccount, discoverWallets, isAddress } from './wallet.ts'

// Delays the next read, because sales come in bursts.
const LOOK_AFTER_MS = 500

/** Reads the owner's blocks for the address in the field or the connected wallet. */
export function createOwnerSection(studio: Studio): Component {
  const section = queryElement('owner', HTMLElement)
  const field = queryElement('wallet', HTMLInputElement)
  const status = queryElement('wallet-status', HTMLElement)
  const otherRoom = queryElement('other-room', HTMLButtonElement)
  const blocked = queryElement('blocked', HTMLElement)
  let signer: Signer | undefined
  const repaintPanel = createRepaintPanel(studio, () => signer)

  const loadOwnBlocks = async (address: string) => {
    try {
      const blocks = await readBlocksOfWallet(address)
      // The user may have entered another address meanwhile.
      if (field.value.trim() !== address) return
      status.textContent =
        blocks.length === 0 ? 'This wallet owns no blocks yet.' : `This wallet owns ${formatBlocks(blocks.length)}.`
      const { wallet, mine } = studio.getSketch()
      const isSame = wallet === address && mine.size === blocks.length && blocks.every((block) => mine.has(block))
      if (!isSame) studio.setSketch({ ...studio.getSketch(), wallet: address, mine: new Set(blocks) })
    } catch (error) {
      status.textContent = error instanceof ServiceError ? error.message : 'Could not reach the wall.'
    }
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  const scheduleLoad = (address: string) => {
    clearTimeout(timer)
    timer = setTimeout(() => void loadOwnBlocks(address), LOOK_AFTER_MS)
  }
  const connectWallet = async (wallet: BrowserWallet) => {
    const address = await requestAccount(wallet)
    if (typeof address !== 'string') {
      status.textContent = address.declined ? 'You declined the connection.' : address.words
      return
    }
    signer = { wallet, address }
    field.value = address
    status.textContent = 'Checking…'
    await loadOwnBlocks(address)
  }

  field.addEventListener('input', () => {
    signer = undefined
    const address = field.value.trim()
    studio.setSketch({ ...studio.getSketch(), wallet: undefined, mine: new Set() })
    status.textContent =
      address === '' ? '' : isAddress(address) ? 'Checking…' : 'Enter an address: 0x followed by 40 hex digits.'
    if (isAddress(address)) void loadOwnBlocks(address)
  })
  discoverWallets((wallet) => {
    queryElement('no-wallet', HTMLElement).hidden = true
    const label = ['Connect ', createElement('bdi', wallet.name)]
    queryElement('wallets', HTMLElement).append(createButton('', label, () => void connectWallet(wallet)))
  })
  return {
    update(next, before) {
      section.hidden = chooseDeal(next) === 'buy'
      blocked.textContent = chooseAdvice(next)
      otherRoom.hidden = blocked.textContent === '' || isSoldOut(next.wall)
      repaintPanel.update(next, before)
      // The newly sold blocks may have been bought with this wallet.
      const isSold = next.wall?.stats.claimed !== before.wall?.stats.claimed
      if (isSold && next.wallet !== undefined) scheduleLoad(next.wallet)
    },
  }
}
