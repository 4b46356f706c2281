// What Bun and every browser have beyond the language itself, as far as shared/ uses it; only shared/tsconfig.json sees it.
declare const URL: { canParse(text: string): boolean }
