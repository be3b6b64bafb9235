import { AppError } from './errors.ts'

/** Result of a call: its value, or the AppError that it threw. */
export type Result<T> = { readonly value: T } | { readonly error: AppError }

/** Returns the value of a promise or the AppError that it throws. Other errors are thrown, because they are unexpected. */
export async function toResult<T>(asking: Promise<T>): Promise<Result<T>> {
  try {
    return { value: await asking }
  } catch (error) {
    if (error instanceof AppError) return { error }
    throw error
  }
}

/** Returns the value of a result, or throws its error. */
export function unwrap<T>(result: Result<T>): T {
  if ('error' in result) throw result.error
  return result.value
}
