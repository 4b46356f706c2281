import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import solc from 'solc'

/**
 * Everything that the compiler's output depends on besides the sources. No metadata is appended, so equal sources give
 * equal code.
 */
export const compilerSettings = {
  evmVersion: 'cancun',
  optimizer: { enabled: true, runs: 200 },
  viaIR: true,
  metadata: { bytecodeHash: 'none', appendCBOR: false },
}

/** The contracts of the embedded network; each is in the file of the same name in this folder. */
export const contractNames = ['Dollar', 'Multicall'] as const

const artefactSchema = Type.Object({ abi: Type.Array(Type.Unknown()), deployedBytecode: Type.String() })

/** The content of `artefacts.json`; bytecode is bare hex without a prefix. */
export const artefactsSchema = Type.Object({
  compiler: Type.String(),
  settings: Type.Unknown(),
  contracts: Type.Object({ Dollar: artefactSchema, Multicall: artefactSchema }),
})

const outputSchema = Type.Object({
  errors: Type.Optional(Type.Array(Type.Object({ formattedMessage: Type.String() }))),
  contracts: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Record(
        Type.String(),
        Type.Object({
          abi: Type.Array(Type.Unknown()),
          evm: Type.Object({ deployedBytecode: Type.Object({ object: Type.String() }) }),
        }),
      ),
    ),
  ),
})

/**
 * Compiles the sources to the content of `artefacts.json`; throws with the compiler's message for an error or a
 * warning.
 */
export async function compileContracts() {
  const settings = { ...compilerSettings, outputSelection }
  const input = { language: 'Solidity', sources: await readSources(), settings }
  const output = Value.Parse(outputSchema, JSON.parse(String(solc.compile(JSON.stringify(input)))))
  if (output.errors?.length) throw new Error(output.errors.map((error) => error.formattedMessage).join('\n'))
  const contracts = Object.fromEntries(
    contractNames.map((name) => {
      const contract = output.contracts?.[`${name}.sol`]?.[name]
      return [name, { abi: contract?.abi, deployedBytecode: contract?.evm.deployedBytecode.object }]
    }),
  )
  return Value.Parse(artefactsSchema, { compiler: String(solc.version()), settings: compilerSettings, contracts })
}

const outputSelection = { '*': { '*': ['abi', 'evm.deployedBytecode.object'] } }

async function readSources() {
  const sources = contractNames.map(async (name) => {
    const content = await Bun.file(new URL(`./${name}.sol`, import.meta.url)).text()
    return [`${name}.sol`, { content }] as const
  })
  return Object.fromEntries(await Promise.all(sources))
}

if (import.meta.main) {
  const artefacts = await compileContracts()
  await Bun.write(new URL('./artefacts.json', import.meta.url), `${JSON.stringify(artefacts, null, 2)}\n`)
}
