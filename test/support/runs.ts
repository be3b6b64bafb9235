import fc from 'fast-check'

/** Returns the number of samples of a property test: `samples`, multiplied by the environment variable FC_RUNS. */
export function scaleSampleCount(samples: number): number {
  return samples * Number(process.env['FC_RUNS'] ?? 1)
}

const USUAL = 40

fc.configureGlobal({ numRuns: scaleSampleCount(USUAL) })
