import fc from 'fast-check'

/** Returns the number of samples for a property test: `samples`, times FC_RUNS if the environment sets it. */
export function runs(samples: number): number {
  return samples * Number(process.env['FC_RUNS'] ?? 1)
}

const USUAL = 40

fc.configureGlobal({ numRuns: runs(USUAL) })
