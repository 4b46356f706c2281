// The globals used in shared/ that both Bun and every browser provide beyond the language itself. Only
// shared/tsconfig.json includes this file.
declare const URL: { canParse(text: string): boolean }
