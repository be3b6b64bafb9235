/** Kinds of tests, as in the file name `*.service.test.ts`. A test file without a kind is a unit test. */
export const TEST_KINDS = ['table', 'service', 'deep', 'infra', 'standins', 'browser'] as const
