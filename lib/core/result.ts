import { AppError } from './errors.ts'

/** Result of a call: a value, or an expected failure. */
export type Result<T> = { readonly value: T } | { readonly error: AppError }

/** Returns the result of a call; throws unexpected errors. */
export async function toResult<T>(asking: Promise<T>): Promise<Result<T>> {
  try {
    return { value: await asking }
  } catch (error) {
    if (error instanceof AppError) return { error }
    throw error
  }
}

/** Returns the value of a result; throws its failure. */
export function unwrap<T>(result: Result<T>): T {
  if ('error' in result) throw result.error
  return result.value
}
