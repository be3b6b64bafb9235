import * as z from 'zod'
import { field } from '../core/field.ts'

/** Kind of a request: a deposit waits for shares, a withdrawal for assets. */
export const RequestKind = field(z.enum(['deposit', 'withdrawal']), 'invalid_kind').describe('Kind of request')
export type RequestKind = z.output<typeof RequestKind>
