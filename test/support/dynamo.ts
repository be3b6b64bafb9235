import { test as base } from 'vitest'
import { memoryDynamo } from './memory-dynamo.ts'
import { openTables, TEST_TABLES } from './tables.ts'

/** Tests with a DynamoDB in memory. Each test has empty tables and the log of its requests. */
export const test = base
  /** Names of all attempted actions since the test last emptied the list, in order: `Query`, `PutItem`. */
  .extend('requests', (): string[] => [])
  .extend('memory', ({ requests }) => memoryDynamo({ onTry: ({ action }) => requests.push(action) }))
  .extend('tables', ({ memory }) => openTables(memory.dynamo, TEST_TABLES))
  /** Makes every later write succeed but lose its first response, so that the SDK retries it. */
  .extend('loseAnswers', ({ memory }) => () => {
    let lost: object | undefined
    memory.losesAnswer = ({ action, request }) => {
      if (!/^(Put|Update|Delete)Item$|^TransactWriteItems$/.test(action) || lost === request) return false
      lost = request
      return true
    }
  })
