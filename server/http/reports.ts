/** Route `/api/reports`: reports of artworks to the operator. */

import { Elysia } from 'elysia'
import { Reported } from '../../shared/contract/report.ts'
import { documentOperation, type OperationDocs, queued } from '../discovery/openapi/operation.ts'
import { readReport, reportWork, type ReportDeps } from '../wall/report-work.ts'
import { respondResult } from './answer/refuse.ts'
import { createJsonBodyHooks, type Clients } from './request/clients.ts'

export const createReportRoutes = (deps: ReportDeps & { readonly clients: Clients }) => {
  const { limits, getClientAddress } = deps.clients
  return new Elysia({ name: 'reports' }).post(
    '/api/reports',
    async ({ request, body }) => respondResult(await reportWork(deps, body, getClientAddress(request))),
    {
      ...createJsonBodyHooks(deps.clients, readReport, {
        before: (request) => limits.take('reports', getClientAddress(request)),
      }),
      ...documentOperation(DOCS.reportWork),
    },
  )
}

const DOCS = {
  reportWork: {
    id: 'reportWork',
    summary: 'Report a work to the operator',
    description:
      'Free. For content that must not be shown: the operator reads the report, looks at the work that the block is part of, and decides. Nobody else sees the report, and nothing is hidden automatically. One report per work, client and day is stored; repeating it changes nothing. Your address is not stored.',
    answers: [Reported],
    codes: ['invalid_body', 'invalid_coordinate', 'no_owner', 'body_too_large', ...queued],
  },
} satisfies Record<string, OperationDocs>
