/** Kinds of tests by the end of a file's name: `*.service.test.ts`. All other tests are unit tests. */
export const KINDS = ['table', 'service', 'deep', 'infra', 'standins', 'browser'] as const
