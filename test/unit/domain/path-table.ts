/** Prints paths as a readable table: one line per path, and each repeated part written once under a name. */

/** A path as words, such as `['look-up: unknown', 'check-availability: open']`, and how it ends. */
export type Row = { readonly steps: readonly string[]; readonly end: string }

type Tree = { readonly end: string } | { readonly verb: string; readonly branches: readonly Branch[] }
type Branch = { readonly labels: readonly string[]; readonly tree: Tree }

// Shorter parts are clearer inline than under a name.
const NAMED_FROM_LINES = 3

/** The table of `rows`, which must be every path of one script. Replies that change nothing are omitted. */
export function renderPathTable(rows: readonly Row[]): string {
  const root = buildTree(rows, 0)
  const names = nameParts(root)
  const parts = [...names].map(([key, { tree, name }]) => [`${name}:`, ...renderLines(tree, names, key)].join('\n'))
  return [renderLines(root, names).join('\n'), ...parts].join('\n\n')
}

function buildTree(rows: readonly Row[], depth: number): Tree {
  const [first] = rows
  const at = first?.steps[depth]
  if (first === undefined || at === undefined) return { end: first?.end ?? '' }
  const byLabel = Map.groupBy(rows, ({ steps }) => readLabel(steps[depth]))
  const byShape = new Map<string, { labels: string[]; tree: Tree }>()
  for (const [label, group] of byLabel) {
    const tree = buildTree(group, depth + 1)
    const same = byShape.get(JSON.stringify(tree))
    if (same === undefined) byShape.set(JSON.stringify(tree), { labels: [label], tree })
    else same.labels.push(label)
  }
  const branches = [...byShape.values()]
  const verb = readVerb(at)
  const [only] = branches
  if (branches.length > 1 || only === undefined) return { verb, branches }
  return verb === ASIDE ? only.tree : { verb, branches: [{ labels: [], tree: only.tree }] }
}

// A prior purchase is omitted if its state changes nothing in the rest of the path.
const ASIDE = 'prior purchase'

const readVerb = (step: string) => step.split(': ')[0] ?? step
const readLabel = (step = '') => step.slice(readVerb(step).length + 2)

type Names = ReadonlyMap<string, { readonly tree: Tree; readonly name: string }>

/** Gives each long part that occurs more than once a name: the step that first leads to it. */
function nameParts(root: Tree): Names {
  const seen = new Map<string, { tree: Tree; after: string; count: number }>()
  const visit = (tree: Tree, after: string) => {
    if ('end' in tree) return
    const key = JSON.stringify(tree)
    const before = seen.get(key)
    if (before !== undefined) {
      before.count += 1
      return
    }
    seen.set(key, { tree, after, count: 1 })
    for (const branch of tree.branches) visit(branch.tree, formatStep(tree.verb, branch))
  }
  visit(root, 'the start')
  const repeated = [...seen].filter(([, { tree, count }]) => count > 1 && countLines(tree) >= NAMED_FROM_LINES)
  const used = new Map<string, number>()
  return new Map(
    repeated.map(([key, { tree, after }]) => {
      const nth = (used.get(after) ?? 0) + 1
      used.set(after, nth)
      return [key, { tree, name: nth === 1 ? `[after ${after}]` : `[after ${after}, ${nth}]` }]
    }),
  )
}

const countLines = (tree: Tree): number =>
  'end' in tree ? 1 : tree.branches.reduce((sum, branch) => sum + countLines(branch.tree), 0)

const formatStep = (verb: string, { labels }: Branch) => (labels.length === 0 ? verb : `${verb}: ${labels.join(' | ')}`)

function renderLines(tree: Tree, names: Names, spelledOut = ''): readonly string[] {
  if ('end' in tree) return [`-> ${tree.end}`]
  const key = JSON.stringify(tree)
  const named = key === spelledOut ? undefined : names.get(key)
  if (named !== undefined) return [named.name]
  return tree.branches.flatMap((branch) =>
    renderLines(branch.tree, names).map((rest) =>
      rest.startsWith('->') ? `${formatStep(tree.verb, branch)} ${rest}` : `${formatStep(tree.verb, branch)} > ${rest}`,
    ),
  )
}
