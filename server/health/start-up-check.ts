/** Building on what a store holds while it is still being looked through. */

/** What `build` makes, made anew if what it was made from had to be mended. Rejects when the store is refused. */
export async function afterStartUpCheck<T>(checked: Promise<'whole' | 'mended'>, build: () => Promise<T>): Promise<T> {
  const early = build()
  // Damage may keep it from being built, which says nothing before the damage is known.
  early.catch(() => {})
  return (await checked) === 'whole' ? await early : await build()
}
