import { test as base } from 'vitest'
import { memoryDynamo } from './memory-dynamo.ts'
import { openTables, TEST_TABLES } from './tables.ts'

/** Test fixtures with a DynamoDB in memory. Each test has empty tables and the list of its requests. */
export const test = base
  /**
   * Names of the DynamoDB requests that the test has sent, such as `Query`. Retries are included. A test may empty the
   * list.
   */
  .extend('requests', (): string[] => [])
  .extend('memory', ({ requests }) => memoryDynamo({ onTry: ({ action }) => requests.push(action) }))
  .extend('tables', ({ memory }) => openTables(memory.dynamo, TEST_TABLES))
  /** Makes each later write succeed but lose its first response, so that the SDK retries the write. */
  .extend('loseAnswers', ({ memory }) => () => {
    let lost: object | undefined
    memory.losesAnswer = ({ action, request }) => {
      if (!/^(Put|Update|Delete)Item$|^TransactWriteItems$/.test(action) || lost === request) return false
      lost = request
      return true
    }
  })
