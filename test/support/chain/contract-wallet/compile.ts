import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import solc from 'solc'
import { compilerSettings } from '../../../../server/local/token/compile.ts'

const contractSchema = Type.Object({ evm: Type.Object({ deployedBytecode: Type.Object({ object: Type.String() }) }) })

const outputSchema = Type.Object({
  errors: Type.Optional(Type.Array(Type.Object({ formattedMessage: Type.String() }))),
  contracts: Type.Object({
    'Factory.sol': Type.Object({ Factory: contractSchema, Account: contractSchema }),
  }),
})

/**
 * Compiles the contracts of `Factory.sol` to the content of `artefact.json`; throws the compiler's messages if there is
 * an error or a warning.
 */
export async function compileFactory() {
  const content = await Bun.file(new URL('./Factory.sol', import.meta.url)).text()
  const settings = { ...compilerSettings, outputSelection: { '*': { '*': ['evm.deployedBytecode.object'] } } }
  const input = { language: 'Solidity', sources: { 'Factory.sol': { content } }, settings }
  const answer: unknown = JSON.parse(String(solc.compile(JSON.stringify(input))))
  const { errors = [], contracts } = Value.Parse(outputSchema, answer)
  if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join('\n'))
  const { Factory, Account } = contracts['Factory.sol']
  return { factory: Factory.evm.deployedBytecode.object, account: Account.evm.deployedBytecode.object }
}

if (import.meta.main) {
  const artefact = await compileFactory()
  await Bun.write(new URL('./artefact.json', import.meta.url), `${JSON.stringify(artefact, null, 2)}\n`)
}
