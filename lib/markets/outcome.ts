import { AppError } from '../errors.ts'

/** What came of asking: a value, or the failure that we mean. */
export type Outcome<T> = { readonly value: T } | { readonly error: AppError }

/** What comes of asking an upstream; throws only what is a mistake of ours. */
export async function outcomeOf<T>(asking: Promise<T>): Promise<Outcome<T>> {
  try {
    return { value: await asking }
  } catch (error) {
    if (error instanceof AppError) return { error }
    throw error
  }
}

/** The value of an outcome; throws its failure. */
export function valueIn<T>(outcome: Outcome<T>): T {
  if ('error' in outcome) throw outcome.error
  return outcome.value
}
