import fc from 'fast-check'

/** Returns how many samples of a property are tried: so many, times FC_RUNS where the environment sets it. */
export function runs(samples: number): number {
  return samples * Number(process.env['FC_RUNS'] ?? 1)
}

/** Samples of a property that names no number. */
const USUAL = 40

fc.configureGlobal({ numRuns: runs(USUAL) })
