// Texts that are imported as they are.

declare module '*.md' {
  const text: string
  export default text
}

declare module '*.svg' {
  const text: string
  export default text
}
