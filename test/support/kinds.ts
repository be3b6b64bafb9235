/** Kinds of tests, as the file name ends: `*.service.test.ts`. Files without a kind are unit tests. */
export const KINDS = ['table', 'service', 'deep', 'infra', 'standins', 'browser'] as const
