/** The shared context of the components: the state, and the theme. */

import type { Appearance } from './appearance.ts'
import type { Action, State } from './state.ts'

export type Page = {
  state(): State
  dispatch(action: Action): void
  /** Whether the GPU draws. Only then can the stage's pixels be read. */
  isOnGpu(): boolean
  /** Draws now and returns the stage's canvas while its pixels can be read. */
  captureStage(): HTMLCanvasElement
  readonly appearance: Appearance
}

/** A part that follows the state; built after the first drawing. */
export type Component = {
  /** Called when the state has changed. */
  update(next: State, before: State): void
  /** Called when the stage has been drawn. */
  onDraw?(state: State): void
  /** Called when the theme has changed. */
  restyle?(state: State): void
}

/** The content of a panel; `update` is called while it is open. */
export type PanelContent = {
  readonly title: string
  readonly body: readonly Node[]
  update?(state: State, before: State): void
  /** Called when the panel is closed. */
  close?(): void
}
