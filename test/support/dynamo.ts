import { test as base } from 'vitest'
import { memoryDynamo } from './memory-dynamo.ts'
import { openTables, TEST_TABLES } from './tables.ts'

/** Tests with a DynamoDB in memory: for each test fresh tables and the log of its requests. */
export const test = base
  /** The actions that were tried since it was emptied last, in order: `Query`, `PutItem`. */
  .extend('requests', (): string[] => [])
  .extend('memory', ({ requests }) => memoryDynamo({ onTry: ({ action }) => requests.push(action) }))
  /** The tables as functions reach them. */
  .extend('tables', ({ memory }) => openTables(memory.dynamo, TEST_TABLES))
  /** From when it is called, every write is made and its first answer lost; the SDK tries it again. */
  .extend('loseAnswers', ({ memory }) => () => {
    let lost: object | undefined
    memory.losesAnswer = ({ action, request }) => {
      if (!/^(Put|Update|Delete)Item$|^TransactWriteItems$/.test(action) || lost === request) return false
      lost = request
      return true
    }
  })
