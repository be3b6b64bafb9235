declare module 'dynalite' {
  import type { Server } from 'node:http'

  /** Returns a DynamoDB server that does not listen yet. Without a path it keeps data in memory. `createTableMs` is in milliseconds. */
  function dynalite(options?: { path?: string; createTableMs?: number }): Server
  export = dynalite
}

declare module 'dynalite/db/index.js' {
  /** Object through which dynalite's actions call its functions, so that they can be replaced. */
  const db: {
    /** Returns the size of an item in bytes, but counts each character of a text as one byte. */
    itemSize: (item: object) => number
    /** The original `itemSize`, which is kept here after its replacement. */
    sizeInCharacters?: (item: object) => number
  }
  export = db
}
