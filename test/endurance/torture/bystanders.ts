/** The other users: owners who repaint, and a reader who follows the feed. */

import type { Wallet } from '../../../server/local/wallets.ts'
import type { FeedPage, Sale } from '../../../shared/contract/feed.ts'
import { repaintBlock } from '../../support/e2e/buyer.ts'

/** An owner, its sent messages, and how many were sent when one was last acknowledged. */
export type Editor = { readonly wallet: Wallet; readonly block: string; readonly sent: string[]; acknowledged: number }

/** Repaints once; an edit that gets no response may still have been made. */
export async function repaintOnce(editor: Editor, url: string): Promise<void> {
  const message = `edit ${editor.sent.length + 1}`
  editor.sent.push(message)
  const answer = await repaintBlock({ url }, editor.wallet, editor.block, message).catch(() => undefined)
  if (answer?.status === 200) editor.acknowledged = editor.sent.length
}

/** Returns the address of the wall; if there are several walls, returns the address of each in turn. */
export type Door = () => string

/** A reader of the feed, which keeps every sale as it was first read, and reads pages from each instance in turn. */
export type Reader = { readonly sales: Sale[]; readFeed(door: Door): Promise<void> }

/** Creates a reader that starts at the beginning of the feed. */
export function createReader(): Reader {
  const sales: Sale[] = []
  let after = 0
  return {
    sales,
    async readFeed(door) {
      for (;;) {
        const page = await readPage(door(), after)
        if (page === undefined) return
        for (const sale of page.sales) {
          if (sale.seq !== sales.length + 1) throw new Error(`the feed went from ${sales.length} to ${sale.seq}`)
          sales.push(sale)
        }
        after = page.nextAfter
        if (!page.hasMore) return
      }
    },
  }
}

async function readPage(url: string, after: number): Promise<FeedPage | undefined> {
  try {
    const answer = await fetch(`${url}/api/feed?after=${after}&limit=100`)
    return answer.ok ? ((await answer.json()) as FeedPage) : undefined
  } catch {
    return undefined
  }
}
