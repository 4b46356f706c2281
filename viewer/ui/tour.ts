/**
 * The bar of the tour through the news: at each stop the work's picture, its message, its link, and a button to the
 * next stop.
 */

import { formatPrice } from '../../shared/money.ts'
import { formatTitle } from '../../shared/titles.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import type { Page, PanelContent } from '../page.ts'
import { type State, differsIn, findStop } from '../state.ts'
import { type Artwork, findArtwork } from '../wall/artworks.ts'
import { formatAgentName, formatWorkSize } from '../wall/formatting.ts'
import type { Wall } from '../wall/wall-model.ts'
import { createButton, createElement, createFactsLine, replaceContent, createUntrustedText } from './dom.ts'
import { createRelativeTime, drawWork, createLinks } from './label/works.ts'

/** The shown stop, and buttons to the next and the previous stop. */
export function createTour(page: Page): PanelContent {
  const body = createElement('div.stop')
  const createTurnButton = (key: string, name: string, by: 1 | -1) =>
    addKey(
      key,
      createButton(key, [name], () => page.dispatch({ do: 'turn', by })),
    )
  const fillStop = (state: State) => {
    const { wall, pinned, stops = [] } = state
    if (wall === undefined || pinned === undefined) return
    const stop = findStop(state)
    const work = findArtwork(wall, pinned)
    const isLast = stop === stops.length - 1
    replaceContent(body, [
      // The button to the next stop comes first, so that keyboard focus starts on it and stays there.
      ...(work === undefined ? [createInvitation(page, pinned)] : isLast ? [] : [createTurnButton('next', 'Next', 1)]),
      ...(stop > 0 ? [createTurnButton('back', 'Back', -1)] : []),
      ...(work === undefined ? renderOffer(wall) : renderStop(page, wall, work)),
      createElement('p.count', `${stop + 1} of ${stops.length}`),
    ])
  }
  return {
    title: 'What is new',
    body: [body],
    update(state, before) {
      if (state === before || differsIn(state, before, 'pinned', 'stops', 'wall')) fillStop(state)
    },
  }
}

const addKey = (key: string, element: HTMLButtonElement) => {
  element.dataset['key'] = key
  return element
}

const createInvitation = (page: Page, block: BlockIndex) =>
  addKey(
    'next',
    createButton('loud', ['Send your agent'], () => page.dispatch({ do: 'invite', block })),
  )

const renderOffer = ({ pricing }: Wall) => [
  createElement('div.picture'),
  createElement('p.title', `This block costs ${formatPrice(pricing.perBlock)}.`),
  createFactsLine('It is the available block nearest the newest artwork.'),
]

function renderStop(page: Page, wall: Wall, { blocks, agent, message, link, until }: Artwork): Node[] {
  const owner = wall.agents[agent]
  const [block] = blocks
  const details = createButton(
    'picture',
    [drawWork(wall.texture, blocks, page.appearance.getTheme())],
    () => block !== undefined && page.dispatch({ do: 'open-work', block }),
  )
  details.ariaLabel = 'Open the details'
  return [
    details,
    createUntrustedText(message === undefined ? 'p.title.unnamed' : 'p.title', message ?? formatTitle(message)),
    createFactsLine(
      createElement('bdi', owner === undefined ? '' : formatAgentName(owner)),
      formatWorkSize(blocks),
      createRelativeTime(until),
      ...(link === undefined ? [] : createLinks(link)),
    ),
  ]
}
