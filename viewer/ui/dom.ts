/** Creates elements. Text only becomes text nodes: what strangers wrote can never be markup. */

/** An element of a class with children; strings become text. */
export function createElement<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  name: string,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  if (name) element.className = name
  element.append(...children)
  return element
}

/** Strangers' text in its own direction, which does not affect what surrounds it. */
export function strangersText(tag: keyof HTMLElementTagNameMap, name: string, text: string): HTMLElement {
  const element: HTMLElement = createElement(tag, name, text)
  element.dir = 'auto'
  return element
}

/** A button with what it shows and what it does. */
export function button(name: string, children: readonly (Node | string)[], onClick: () => void): HTMLButtonElement {
  const element = createElement('button', name, ...children)
  element.type = 'button'
  element.addEventListener('click', onClick)
  return element
}

/** A link that leaves the wall, for an address that strangers chose. */
export function externalLink(href: string, content: Node | string): HTMLAnchorElement {
  const anchor = createElement('a', '', content)
  anchor.href = href
  anchor.rel = 'noopener nofollow ugc'
  anchor.target = '_blank'
  anchor.title = href
  return anchor
}

/** An element of the page's HTML; throws when it is missing or of another kind. */
export function query<T extends Element>(id: string, kind: new () => T): T {
  const element = document.getElementById(id)
  if (!(element instanceof kind)) throw new Error(`index.html has no ${kind.name} with id ${id}`)
  return element
}
