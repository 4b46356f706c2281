/** The context that the components share: the state, its actions, the theme and the stage. */

import type { Appearance } from './appearance.ts'
import type { Action, State } from './state.ts'

export type Page = {
  getState(): State
  dispatch(action: Action): void
  /** Whether the GPU draws the stage. Only then can the stage's pixels be read. */
  isOnGpu(): boolean
  /** Draws now and returns the stage's canvas, whose pixels must be read in the same task. */
  captureStage(): HTMLCanvasElement
  readonly appearance: Appearance
}

/** A part of the page that follows the state. It is created after the first drawing. */
export type Component = {
  /** Called when the state has changed. */
  update(next: State, before: State): void
  /** Called when the stage has been drawn. */
  onDraw?(state: State): void
  /** Called when the theme has changed. */
  restyle?(state: State): void
}

/** The content of a panel; `update` is called while the panel is open. */
export type PanelContent = {
  readonly title: string
  readonly body: readonly Node[]
  update?(state: State, before: State): void
  /** Called when the panel is closed. */
  close?(): void
}
