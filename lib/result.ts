import { AppError } from './errors.ts'

/** What came of asking: a value, or the failure that we mean. */
export type Result<T> = { readonly value: T } | { readonly error: AppError }

/** What comes of asking an upstream; throws only what is a mistake of ours. */
export async function toResult<T>(asking: Promise<T>): Promise<Result<T>> {
  try {
    return { value: await asking }
  } catch (error) {
    if (error instanceof AppError) return { error }
    throw error
  }
}

/** The value of an outcome; throws its failure. */
export function unwrap<T>(result: Result<T>): T {
  if ('error' in result) throw result.error
  return result.value
}
