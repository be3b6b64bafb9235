import * as z from 'zod'
import { field } from '../field.ts'

/** What a request is of: of a deposit, which waits for shares, or of a withdrawal, which waits for assets. */
export const RequestKind = field(z.enum(['deposit', 'withdrawal']), 'invalid_kind').describe('Kind of request')
export type RequestKind = z.output<typeof RequestKind>
