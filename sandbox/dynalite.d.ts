declare module 'dynalite' {
  import type { Server } from 'node:http'

  /**
   * Returns an in-process DynamoDB server that does not listen yet. Without `path`, it keeps data in memory. A new table is ready after
   * `createTableMs` milliseconds.
   */
  function dynalite(options?: { path?: string; createTableMs?: number }): Server
  export = dynalite
}

declare module 'dynalite/db/index.js' {
  /**
   * Functions of dynalite's database. dynalite calls each function through this object, so a new value of a property replaces the function.
   */
  const db: {
    /** Returns a DynamoDB item's size in bytes. Counts each character as one byte; real DynamoDB counts UTF-8 bytes. */
    itemSize: (item: object) => number
    /** Copy of dynalite's own `itemSize`, for the code that replaces `itemSize` but still calls it. */
    sizeInCharacters?: (item: object) => number
  }
  export = db
}
