declare module 'dynalite' {
  import type { Server } from 'node:http'

  /** Returns a DynamoDB server that does not listen yet; in memory without a path. Times are in milliseconds. */
  function dynalite(options?: { path?: string; createTableMs?: number }): Server
  export = dynalite
}

declare module 'dynalite/db/index.js' {
  /** dynalite's actions call functions through this object. */
  const db: {
    /** Returns the bytes of an item, but counts each character of a text as one. */
    itemSize: (item: object) => number
    /** The original `itemSize`, after its replacement. */
    sizeInCharacters?: (item: object) => number
  }
  export = db
}
