/** Making elements. Text only ever becomes text nodes: what strangers wrote can never be markup. */

/** An element of a class with children; strings become text. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  name: string,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  if (name) element.className = name
  element.append(...children)
  return element
}

/** Strangers' text, kept from changing the direction of what surrounds it. */
export const strangersText = (tag: keyof HTMLElementTagNameMap, name: string, text: string): HTMLElement =>
  isolated(make(tag, name, text))

/** Text that begins on its own script's side. */
function isolated<T extends HTMLElement>(element: T): T {
  element.dir = 'auto'
  return element
}

/** A button that says what it does. */
export function button(name: string, children: readonly (Node | string)[], onClick: () => void): HTMLButtonElement {
  const element = make('button', name, ...children)
  element.type = 'button'
  element.addEventListener('click', onClick)
  return element
}

/** A link that leaves the wall, for an address that strangers chose. */
export function externalLink(href: string, content: Node | string): HTMLAnchorElement {
  const anchor = make('a', '', content)
  anchor.href = href
  anchor.rel = 'noopener nofollow ugc'
  anchor.target = '_blank'
  anchor.title = href
  return anchor
}

/** A button that copies a text and says so for a moment. */
export function copyButton(label: string, text: () => string): HTMLButtonElement {
  const element = button('copy', [label], () => {
    const told = (copied: boolean) => {
      element.textContent = copied ? 'Copied' : 'Could not copy'
      setTimeout(() => element.replaceChildren(label), 1500)
    }
    // Browsers offer no clipboard to pages that came over plain http.
    if (!('clipboard' in navigator)) return told(false)
    void navigator.clipboard.writeText(text()).then(
      () => told(true),
      () => told(false),
    )
  })
  return element
}

/** An element of index.html; throws when it is not there or of another kind. */
export function find<T extends Element>(id: string, kind: new () => T): T {
  const element = document.getElementById(id)
  if (!(element instanceof kind)) throw new Error(`index.html has no ${kind.name} with id ${id}`)
  return element
}
