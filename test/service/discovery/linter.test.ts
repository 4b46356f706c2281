import { expect, test } from 'bun:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { openWall } from '../../support/service/wall.ts'

// Redocly's recommended rules, those that only warn included; it holds the examples to their schemas too.
const settings = await createConfig({
  extends: ['recommended'],
  // A read that takes nothing cannot be asked wrongly.
  rules: { 'operation-4xx-response': 'off' },
})

const wall = await openWall()

test("Redocly's linter finds only the scheme that no operation may require", async () => {
  const source = await (await wall.ask('GET /openapi.json')).text()
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config: settings })
  // Payment clients take a required key for one to be had beforehand, so the scheme is there to be read about only.
  expect(problems.map(({ ruleId, location }) => [ruleId, location[0]?.pointer])).toEqual([
    ['no-unused-components', '#/components/securitySchemes/x402'],
  ])
})

test("Redocly's linter does find faults", async () => {
  const source = JSON.stringify({ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: { '/a/': { get: {} } } })
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config: settings })
  expect(problems.map(({ ruleId }) => ruleId)).toContain('no-path-trailing-slash')
})
