/** Creates elements. All text becomes text nodes, so untrusted text can never become markup. */

import type { Box } from '../camera/camera.ts'

type Tag = keyof HTMLElementTagNameMap

/** Creates an element from a selector like `p` or `p.facts.where`; strings among its children become text. */
export function createElement<Name extends Tag>(
  selector: Name | `${Name}.${string}`,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const [tag, ...classes] = selector.split('.')
  const element = document.createElement(tag as Name)
  element.classList.add(...classes.filter(Boolean))
  element.append(...children)
  return element
}

/** A canvas of this size in pixels, and a function that puts an image on it. */
export function createPicture(width: number, height: number) {
  const canvas = createElement('canvas')
  Object.assign(canvas, { width, height })
  const context = canvas.getContext('2d')
  return { canvas, putImage: (image: ImageData, left = 0, top = 0) => context?.putImageData(image, left, top) }
}

/** Adds an element over the wall; screen readers ignore the element. */
export function addLayer(stage: HTMLElement, name: string, ...children: readonly Node[]): HTMLElement {
  const layer = createElement(`div.${name}`, ...children)
  layer.ariaHidden = 'true'
  stage.append(layer)
  return layer
}

/** Sets the position and size of an element on the stage, in CSS pixels. */
export function placeElement({ style }: HTMLElement, { left, top, width, height }: Box) {
  style.transform = `translate(${left}px, ${top}px)`
  style.width = `${width}px`
  style.height = `${height}px`
}

/** A line of facts about an artwork, an agent or a block; a fact that is a string does not wrap. */
export const createFactsLine = (...facts: readonly (Node | string)[]): HTMLElement =>
  createElement('p.facts', ...facts.map((fact) => (typeof fact === 'string' ? createElement('span', fact) : fact)))

/** Untrusted text with its own text direction, which does not affect the surrounding text. */
export function createUntrustedText(selector: Tag | `${Tag}.${string}`, text: string): HTMLElement {
  const element: HTMLElement = createElement(selector, text)
  element.dir = 'auto'
  return element
}

/**
 * Sets the text of an element, unless it has that text already. Setting it again would end a selection of the text, and
 * a screen reader would read it again.
 */
export function showText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

/** A button with content, an action, and classes in the form `agent.unnamed`. */
export function createButton(
  name: string,
  children: readonly (Node | string)[],
  onClick: () => void,
): HTMLButtonElement {
  const element = createElement(`button.${name}`, ...children)
  element.type = 'button'
  element.addEventListener('click', onClick)
  return element
}

/** A link with a class. */
export const createLink = (name: string, href: string, content: Node | string): HTMLAnchorElement =>
  Object.assign(createElement(`a.${name}`, content), { href })

/** A link to another site, with an untrusted address. */
export function createExternalLink(href: string, content: Node | string): HTMLAnchorElement {
  const anchor = createLink('', href, content)
  anchor.rel = 'noopener nofollow ugc'
  anchor.target = '_blank'
  anchor.title = href
  return anchor
}

/** An element of the page's HTML; throws if it is missing or is not an instance of `kind`. */
export function queryElement<T extends Element>(id: string, kind: new () => T): T {
  const element = document.getElementById(id)
  if (!(element instanceof kind)) throw new Error(`the page has no ${kind.name} with id ${id}`)
  return element
}

/**
 * Replaces the content of an element. The focus stays on the control with the same `data-key`, or else on the control
 * at the same index.
 */
export function replaceContent(element: HTMLElement, content: readonly Node[]) {
  const listControls = () => [...element.querySelectorAll<HTMLElement>('button, a, summary, input, select')]
  const before = listControls()
  const focused = before.findIndex((one) => one === document.activeElement)
  element.replaceChildren(...content)
  if (focused === -1) return
  const after = listControls()
  const listKeys = (all: readonly HTMLElement[]) => all.map(({ dataset }) => dataset['key'])
  after[findFocus(listKeys(before), focused, listKeys(after))]?.focus({ preventScroll: true })
}

type Keys = readonly (string | undefined)[]

/**
 * The index of the control that gets the focus after a replacement: the one with the same key, or else the one at the
 * same index.
 */
export function findFocus(before: Keys, focused: number, after: Keys): number {
  const key = before[focused]
  const same = key === undefined ? -1 : after.indexOf(key)
  return same === -1 ? Math.min(focused, after.length - 1) : same
}
