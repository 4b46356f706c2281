/** Making elements. Text only ever becomes text nodes: what strangers wrote can never be markup. */

/** An element of a class with children; strings become text. */
export function make(tag: string, name: string, ...children: readonly (Node | string)[]): HTMLElement {
  const element = document.createElement(tag)
  if (name) element.className = name
  element.append(...children)
  return element
}

/** Strangers' text, kept from changing the direction of what surrounds it. */
export const strangersText = (tag: string, name: string, text: string): HTMLElement =>
  make(tag, name, make('bdi', '', text))

/** An element of index.html; throws when it is not there or of another kind. */
export function find<T extends Element>(id: string, kind: new () => T): T {
  const element = document.getElementById(id)
  if (!(element instanceof kind)) throw new Error(`index.html has no ${kind.name} with id ${id}`)
  return element
}
